import { formats } from './formats.ts'
import type { SchemaNode } from './schema-parts.ts'

/** What a schema allows, as the end of the sentence "allowed: …". */
export function allowedText(schema: SchemaNode): string {
  if (schema.allowed !== undefined) return schema.allowed
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(', ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowedText).join(' or ')
  if (schema.format !== undefined) return formats[schema.format].allowed
  switch (schema.type) {
    case 'integer':
      return `a whole number from ${schema.minimum ?? 0} to ${schema.maximum ?? 'any'}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    case 'object':
      return 'a mapping'
    default:
      return schema.type ?? 'anything'
  }
}

const shownCharacters = 80

/** What was found instead; long values are cut. */
export function foundText(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value !== 'string') return `the ${typeof value} ${String(value)}`
  const isLong = value.length > shownCharacters
  return JSON.stringify(isLong ? `${value.slice(0, shownCharacters)}…` : value)
}
