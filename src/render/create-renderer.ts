import type { CatalogSource } from '../core/catalog.ts'
import { ServiceError } from '../core/errors.ts'
import { compileTemplates } from './compile-templates.ts'
import { decidedVariables } from './decided-variables.ts'
import { readTemplates } from './read-templates.ts'
import type { Renderer } from './renderer.ts'
import { bootIdStandIn, createScriptCache } from './script-cache.ts'
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

/**
 * Reads and compiles all templates now; rendering touches no file and parses nothing.
 * @throws ServiceError TEMPLATE_INVALID with file:line
 */
export function createRenderer(options: RendererOptions): Renderer {
  const { catalog, cachedScripts = 4096 } = options
  const templates = compileTemplates(readTemplates('ipxe', options))
  const cache = createScriptCache(cachedScripts)

  return {
    ipxe(decision, client, { baseUrl, bootId }) {
      const surroundings = {
        baseUrl: checkedBaseUrl(baseUrl),
        bootId: bootIdStandIn,
        client,
        catalog: catalog.current(),
      }
      const decided = decidedVariables(decision)
      const name = templateOf(decision)
      const template = templates[name]
      const key = scriptKey(name, template.variables, decision, decided, surroundings)
      const body = cache.pieces(key, () =>
        template.render(scriptOf(decision, decided, surroundings).variables),
      )
      return `#!ipxe\n${scriptHeader(decided, bootId)}${body.join(bootId)}`
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
