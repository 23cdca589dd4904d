import type { BootDecision } from '../core/boot-decision.ts'
import type { Catalog, CatalogSource } from '../core/catalog.ts'
import type { Firmware } from '../core/client.ts'
import { ServiceError } from '../core/errors.ts'
import type { ScriptSurroundings } from './boot-variables.ts'
import { compileTemplates } from './compile-templates.ts'
import { decidedVariables } from './decided-variables.ts'
import { readTemplates } from './read-templates.ts'
import type { Renderer } from './renderer.ts'
import { bootIdStandIn, createScriptCache, type ScriptPieces } from './script-cache.ts'
import { scriptHeader } from './script-header.ts'
import { scriptKey } from './script-key.ts'
import { scriptOf, templateOf } from './script-variables.ts'

export interface RendererOptions {
  /** The shipped templates; has a folder `ipxe`. */
  readonly templatesDirectory: string
  /** An admin's; a file in it stands in place of the shipped one. */
  readonly adminDirectory?: string
  /** Asked for decompressed kernels. */
  readonly catalog: CatalogSource
  /** How many different scripts are kept; default 4096, some 10 MB. */
  readonly cachedScripts?: number
}

/** A script and everything it depends on besides its decision. */
interface MadeScript {
  readonly catalog: Catalog
  readonly baseUrl: string
  readonly firmware: Firmware
  readonly pieces: ScriptPieces
}

/**
 * Reads and compiles all templates now; rendering touches no file and parses nothing.
 * @throws ServiceError TEMPLATE_INVALID with file:line
 */
export function createRenderer(options: RendererOptions): Renderer {
  const { catalog, cachedScripts = 4096 } = options
  const templates = compileTemplates(readTemplates('ipxe', options))
  const cache = createScriptCache(cachedScripts)
  /** Of decisions that are handed in again, as the boot service remembers them. */
  const scripts = new WeakMap<BootDecision, MadeScript>()

  function piecesOf(decision: BootDecision, surroundings: ScriptSurroundings): ScriptPieces {
    const decided = decidedVariables(decision)
    const name = templateOf(decision)
    const template = templates[name]
    const key = scriptKey(name, template.variables, decision, decided, surroundings)
    const [first = '', ...others] = cache.pieces(key, () =>
      template.render(scriptOf(decision, decided, surroundings).variables),
    )
    const [beforeId, afterId] = scriptHeader(decided)
    return [`#!ipxe\n${beforeId}`, `${afterId}${first}`, ...others]
  }

  return {
    ipxe(decision, { firmware }, { baseUrl, bootId }) {
      const snapshot = catalog.current()
      const made = scripts.get(decision)
      if (made?.catalog === snapshot && made.baseUrl === baseUrl && made.firmware === firmware) {
        return made.pieces.join(bootId)
      }
      const pieces = piecesOf(decision, {
        baseUrl: checkedBaseUrl(baseUrl),
        bootId: bootIdStandIn,
        client: { firmware },
        catalog: snapshot,
      })
      scripts.set(decision, { catalog: snapshot, baseUrl, firmware, pieces })
      return pieces.join(bootId)
    },
    ipxeEntry({ baseUrl }) {
      const base_url = checkedBaseUrl(baseUrl)
      const body = cache.pieces(`entry ${base_url}`, () => templates.entry.render({ base_url }))
      return `#!ipxe\n${body.join('')}`
    },
  }
}

/** An IPv4 address, a bracketed IPv6 address or a name, with or without a port. */
const baseUrlPattern = /^https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/

function checkedBaseUrl(baseUrl: string): string {
  if (baseUrlPattern.test(baseUrl)) return baseUrl
  const message = `${JSON.stringify(baseUrl)} cannot stand at the beginning of a URL in a script`
  throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { baseUrl })
}
