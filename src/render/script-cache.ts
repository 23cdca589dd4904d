import type { CompiledTemplate, CompiledTemplates } from './compile-templates.ts'
import type { TemplateName, VariableName, VariableValue } from './template-variables.ts'

/** A rendered script, cut at every place where the boot id stands. */
export type ScriptPieces = readonly string[]

/**
 * The stand-in that scripts are rendered with. A boot id is random, so this one comes up once in 2^132 boots, and then
 * only that boot's transfers would not be told apart.
 */
export const bootIdStandIn = '-'.repeat(22)

export interface ScriptCache {
  /** Rendered now or taken from an equal render before. */
  pieces(template: TemplateName, values: Partial<Record<VariableName, VariableValue>>): ScriptPieces
}

/**
 * Keeps the newest scripts, so that a rack of equal machines costs one render. The key is every value that the
 * template uses, so nothing stale can come out: what would change the script changes the key.
 */
export function createScriptCache(templates: CompiledTemplates, maximum: number): ScriptCache {
  const kept = new Map<string, ScriptPieces>()

  return {
    pieces(name, values) {
      const template = templates[name]
      const key = keyOf(name, template, values)
      const hit = kept.get(key)
      if (hit !== undefined) {
        kept.delete(key)
        kept.set(key, hit)
        return hit
      }
      const pieces = template.render(values).split(bootIdStandIn)
      kept.set(key, pieces)
      if (kept.size > maximum) {
        for (const oldest of kept.keys()) {
          kept.delete(oldest)
          break
        }
      }
      return pieces
    },
  }
}

function keyOf(
  name: TemplateName,
  { variables }: CompiledTemplate,
  values: Partial<Record<VariableName, VariableValue>>,
): string {
  let key: string = name
  for (const variable of variables) key += `\n${valueKey(values[variable])}`
  return key
}

/** No value has a line break, so the parts of a key cannot be mistaken for each other. */
function valueKey(value: VariableValue | undefined): string {
  if (!Array.isArray(value)) return String(value)
  let key = ''
  for (const entry of value) key += typeof entry === 'string' ? `\t${entry}` : `\t${entry.name} ${entry.url}`
  return key
}
