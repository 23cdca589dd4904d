import type { BootDecision } from '../core/boot-decision.ts'
import type { Catalog, CatalogSource } from '../core/catalog.ts'
import type { BootClient, Firmware } from '../core/client.ts'
import { ServiceError } from '../core/errors.ts'
import type { ScriptSurroundings } from './boot-plan.ts'
import { type CompiledTemplate, compileTemplates } from './compile-templates.ts'
import { configName } from './config-name.ts'
import { bootIdStandIn, type CutScript, joinScript } from './cut-script.ts'
import { decidedVariables } from './decided-variables.ts'
import { answerLine, type Dialect, dialects, magicLine } from './dialect.ts'
import { grubService } from './grub-service.ts'
import { grubVariables } from './grub-variables.ts'
import { ipxeVariables } from './ipxe-variables.ts'
import { pxelinuxVariables } from './pxelinux-variables.ts'
import { readTemplates } from './read-templates.ts'
import type { RenderContext, Renderer } from './renderer.ts'
import { createScriptCache } from './script-cache.ts'
import { scriptHeader } from './script-header.ts'
import { scriptKey } from './script-key.ts'
import { type ScriptParts, scriptPartsOf, templateOf } from './script-parts.ts'
import type { TemplateName } from './template-variables.ts'
import type { ToldVariables } from './told-variables.ts'

export interface RendererOptions {
  /** The shipped templates; has a folder for each dialect. */
  readonly templatesDirectory: string
  /** An admin's; a file in it stands in place of the shipped one. */
  readonly adminDirectory?: string
  /** Asked for decompressed kernels. */
  readonly catalog: CatalogSource
  /** How many different scripts are kept; default 4096, some 10 MB. */
  readonly cachedScripts?: number
}

const variablesFor: Readonly<
  Record<Dialect, (parts: ScriptParts, told: ToldVariables, surroundings: ScriptSurroundings) => object>
> = { ipxe: ipxeVariables, grub: grubVariables, pxelinux: pxelinuxVariables }

/** A script and everything it depends on besides its decision. */
interface MadeScript {
  readonly catalog: Catalog
  readonly baseUrl: string
  readonly firmware: Firmware
  readonly script: CutScript
}

/** How a loader asked, and what its script is to say besides. */
interface Asked {
  readonly fetch?: 'http' | 'tftp'
  readonly notes?: readonly string[]
}

/**
 * Reads and compiles all templates now; rendering touches no file and parses nothing.
 * @throws ServiceError TEMPLATE_INVALID with file:line
 */
export function createRenderer(options: RendererOptions): Renderer {
  const { catalog, cachedScripts = 4096 } = options
  const templates = new Map(
    dialects.map((dialect) => [dialect, compileTemplates(dialect, readTemplates(dialect, options))]),
  )
  const cache = createScriptCache(cachedScripts)
  /** Of decisions that are handed in again, as the boot service remembers them. */
  const scripts = new WeakMap<BootDecision, MadeScript>()

  function templateFor(dialect: Dialect, name: TemplateName): CompiledTemplate {
    const template = templates.get(dialect)?.get(name)
    if (template !== undefined) return template
    throw new TypeError(`unreachable: ${dialect} has all of its templates, ${name} too`)
  }

  function scriptOf(
    dialect: Dialect,
    decision: BootDecision,
    client: BootClient,
    baseUrl: string,
    { fetch = 'http', notes }: Asked = {},
  ): CutScript {
    const [mac] = client.macs
    const surroundings: ScriptSurroundings = {
      baseUrl: checkedBaseUrl(baseUrl),
      bootId: bootIdStandIn,
      client,
      ...(mac === undefined ? undefined : { mac }),
      catalog: catalog.current(),
      fetch,
      configName: configName(client),
    }
    const decided = decidedVariables(decision)
    const name = templateOf(decision)
    const template = templateFor(dialect, name)
    const key = scriptKey(dialect, name, template.variables, decision, decided, surroundings)
    const { texts, gaps, isPlain } = cache.pieces(key, () => {
      const told = { ...decided, base_url: surroundings.baseUrl, boot_id: bootIdStandIn }
      const parts = scriptPartsOf(decision, surroundings, dialect)
      return template.render(variablesFor[dialect](parts, told, surroundings))
    })
    const [beforeId, afterId] = scriptHeader(decided, notes)
    const [first = '', ...others] = texts
    return {
      texts: [`${magicLine[dialect]}${beforeId}`, `${afterId}${answerLine[dialect]}${first}`, ...others],
      gaps: ['boot-id', ...gaps],
      isPlain,
    }
  }

  function render(
    dialect: Dialect,
    decision: BootDecision,
    client: BootClient,
    context: RenderContext,
    asked?: Asked,
  ): string {
    return joinScript(scriptOf(dialect, decision, client, context.baseUrl, asked), context)
  }

  return {
    ipxe(decision, client, context) {
      const { baseUrl } = context
      const snapshot = catalog.current()
      const { firmware } = client
      const made = scripts.get(decision)
      if (made?.catalog === snapshot && made.baseUrl === baseUrl && made.firmware === firmware) {
        return joinScript(made.script, context)
      }
      const script = scriptOf('ipxe', decision, client, baseUrl)
      scripts.set(decision, { catalog: snapshot, baseUrl, firmware, script })
      return joinScript(script, context)
    },
    ipxeEntry({ baseUrl }) {
      const base_url = checkedBaseUrl(baseUrl)
      const body = cache.pieces(`entry ${base_url}`, () => templateFor('ipxe', 'entry').render({ base_url }))
      return `${magicLine.ipxe}${body.texts.join('')}`
    },
    grub(decision, client, context) {
      const whose = decision.host === undefined ? 'an unknown machine' : `host ${decision.host.id}`
      const notes = portNotes(checkedBaseUrl(context.baseUrl), whose)
      return render('grub', decision, client, context, { notes })
    },
    grubEntry({ baseUrl }) {
      const base_url = checkedBaseUrl(baseUrl)
      const { device: service } = grubService(base_url, 'a machine')
      const body = cache.pieces(`grub entry ${base_url}`, () =>
        templateFor('grub', 'entry').render({ base_url, service }),
      )
      return body.texts.join('')
    },
    pxelinux: (decision, client, { fetch, ...context }) =>
      render('pxelinux', decision, client, context, { fetch }),
  }
}

/** Some builds of GRUB ask port 80, whatever they are told (field case 98): whoever reads the script shall know. */
function portNotes(baseUrl: string, whose: string): readonly string[] {
  const { port } = grubService(baseUrl, whose)
  return port === undefined ? [] : [`Port ${port}: some builds of GRUB ask port 80 all the same.`]
}

/** An IPv4 address, a bracketed IPv6 address or a name, with or without a port. */
const baseUrlPattern = /^https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/

function checkedBaseUrl(baseUrl: string): string {
  if (baseUrlPattern.test(baseUrl)) return baseUrl
  const message = `${JSON.stringify(baseUrl)} cannot stand at the beginning of a URL in a script`
  throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { baseUrl })
}
