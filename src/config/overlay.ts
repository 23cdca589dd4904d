import { valueAt } from './config-path.ts'
import type { ConfigOrigin } from './origin.ts'
import { type ConfigProblem, problemAt } from './problem.ts'
import { type Settable, settables } from './settable.ts'
import { suggestion } from './suggest.ts'

export interface OverlaySources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** By path: `{ 'boot.http.listen': ':8080' }`. */
  readonly flags: Readonly<Record<string, string | undefined>>
}

export interface Overlay {
  readonly data: unknown
  /** What a flag or a variable has set, by path. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
}

/** The variable that names the configuration file; read by the command line and by `loadConfig`. */
export const configFileVariable = 'PILOTLIGHT_CONFIG'

/** A Service called pilotlight gives every pod variables of these forms (Kubernetes, service environment variables). */
const kubernetesVariable =
  /^PILOTLIGHT(?:_[A-Z0-9_]+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_[A-Z]+)?)?)$/

/** Variables that most programs know; weaker than the file, because they are not about this service. */
const commonVariables = {
  'upstream.proxy': ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'],
  'upstream.noProxy': ['NO_PROXY', 'no_proxy'],
}

/** Puts environment variables over the data of the file, and flags over both. */
export function applyOverlay(data: unknown, { env, flags }: OverlaySources): Overlay {
  const all = settables()
  const origins = new Map<string, ConfigOrigin>()
  const result = structuredClone(data)
  for (const settable of all) {
    const fromEnv = env[settable.variable]
    // An empty variable is how shells and unit files say "not set".
    if (fromEnv !== undefined && fromEnv !== '' && set(result, settable, fromEnv)) {
      origins.set(settable.key, { kind: 'env', name: settable.variable })
    }
  }
  for (const [key, names] of Object.entries(commonVariables)) {
    const settable = all.find((candidate) => candidate.key === key)
    const name = names.find((candidate) => env[candidate])
    if (settable === undefined || name === undefined || valueAt(result, settable.path) !== undefined) continue
    const text = key === 'upstream.proxy' ? withScheme(env[name] ?? '') : (env[name] ?? '')
    if (set(result, settable, text)) origins.set(key, { kind: 'env', name })
  }
  const problems: ConfigProblem[] = []
  const byKey = new Map(all.map((settable) => [settable.key, settable]))
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue
    const settable = byKey.get(key)
    if (settable === undefined) {
      problems.push(
        problemAt({ file: 'flags' }, [key], 'cannot be set by a flag', suggestion(key, byKey.keys())),
      )
    } else if (set(result, settable, value)) {
      origins.set(key, { kind: 'flag', name: settable.flag })
    }
  }
  return { data: result, origins, problems, warnings: strangeVariables(env, all) }
}

/** Sets the value; `false` where something else than a mapping is in the way, which the validation will tell. */
function set(data: unknown, settable: Settable, text: string): boolean {
  const keys = [...settable.path]
  const last = keys.pop() ?? ''
  let target = data
  for (const [index, key] of keys.entries()) {
    if (!isMapping(target)) return false
    const next = target[key]
    const isReplaced = settable.replacesParent && index === keys.length - 1 && typeof next === 'string'
    if (next === undefined || isReplaced) target[key] = {}
    target = target[key]
  }
  if (!isMapping(target)) return false
  target[last] = settable.isList
    ? text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    : text
  return true
}

/** `proxy.example:3128`, as curl takes it too. */
function withScheme(text: string): string {
  return text.includes('://') ? text : `http://${text}`
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function strangeVariables(env: OverlaySources['env'], all: readonly Settable[]): readonly ConfigProblem[] {
  const known = new Set([configFileVariable, ...all.map(({ variable }) => variable)])
  return Object.keys(env)
    .filter((name) => name.startsWith('PILOTLIGHT_') && !known.has(name) && !kubernetesVariable.test(name))
    .sort()
    .map((name) =>
      problemAt(
        { file: `environment ${name}` },
        [],
        'this variable means nothing here',
        suggestion(name, known),
      ),
    )
}
