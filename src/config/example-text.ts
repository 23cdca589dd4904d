import { formatExamples } from './format-hints.ts'
import type { SchemaNode } from './schema-parts.ts'

/** A value that a schema allows, as one would write it: `{ url: https://… }`. Only what must be there is in it. */
export function exampleText(schema: SchemaNode): string {
  if (schema.const !== undefined) return String(schema.const)
  if (schema.enum !== undefined) return schema.enum[0] ?? ''
  if (schema.anyOf !== undefined) return exampleText(schema.anyOf[0] ?? {})
  if (schema.items !== undefined) return `[${exampleText(schema.items)}]`
  const values = Object.values(schema.patternProperties ?? {})[0]
  if (values !== undefined)
    return `{ ${formatExamples[schema.propertyNames?.format ?? 'name']}: ${exampleText(values)} }`
  if (schema.properties !== undefined)
    return `{ ${neededKeys(schema)
      .map((key) => exampleLine(schema, key))
      .join(', ')} }`
  if (schema.format !== undefined) return inQuotes(formatExamples[schema.format])
  return schema.type === 'boolean' ? 'true' : String(schema.minimum ?? 1)
}

/** `source: { url: https://… }`: one key of a mapping with a value that it allows. */
export function exampleLine(schema: SchemaNode, key: string): string {
  return `${key}: ${exampleText(schema.properties?.[key] ?? {})}`
}

/** Keys without which a mapping is refused, and the first of those that it needs one of. */
export function neededKeys(schema: SchemaNode): readonly string[] {
  const required = schema.required?.filter((key) => {
    const inner = schema.properties?.[key]
    return inner?.default === undefined && inner?.section !== true
  })
  const [oneOf] = schema.exactlyOne ?? schema.atLeastOne ?? []
  const needed = [...(required ?? []), ...(oneOf === undefined ? [] : [oneOf])]
  // An empty mapping shows nothing.
  return needed.length > 0 ? needed : Object.keys(schema.properties ?? {}).slice(0, 1)
}

/** What YAML would take for something else than text, or for the end of it. */
function inQuotes(text: string): string {
  return /^[A-Za-z/][^,{}[\]#]*$/.test(text) || /^\d+(?:\.\d+){2}/.test(text) ? text : `'${text}'`
}
