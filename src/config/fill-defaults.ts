import { type SchemaNode, valuesOf } from './schema-parts.ts'

/**
 * Data with the defaults of its schema filled in, as a new value. Only what is absent is filled: wrong values stay
 * as they are, to be told by the validation that follows.
 */
export function fillDefaults(schema: SchemaNode, data: unknown): unknown {
  if (data === undefined) {
    if (schema.default !== undefined) return structuredClone(schema.default)
    return schema.section === true ? fillDefaults(schema, {}) : undefined
  }
  if (Array.isArray(data)) {
    const { items } = schema
    return items === undefined ? data : data.map((item) => fillDefaults(items, item))
  }
  if (typeof data !== 'object' || data === null) return data
  const form = schema.anyOf?.find(({ type }) => type === 'object') ?? schema
  const values = valuesOf(form)
  const filled: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(data)) {
    const inner = form.properties?.[key] ?? values
    filled[key] = inner === undefined ? value : fillDefaults(inner, value)
  }
  for (const [key, inner] of Object.entries(form.properties ?? {})) {
    if (Object.hasOwn(filled, key)) continue
    const value = fillDefaults(inner, undefined)
    if (value !== undefined) filled[key] = value
  }
  return filled
}
