import { type TSchema, Type } from 'typebox'
import type { FormatName } from './formats.ts'

/**
 * Words of the schema beyond JSON Schema's own:
 * - `format`: a name of `formats.ts`
 * - `section`: an object that is there even when nobody wrote it, for the defaults in it
 * - `exactlyOne`, `atLeastOne`: which keys of an object need or exclude each other
 * - `secret`: never shown
 * - `allowed`: ends the sentence "allowed: …" where the schema itself would say it badly
 */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly format?: FormatName
  readonly section?: boolean
  readonly secret?: boolean
  readonly allowed?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly propertyNames?: { readonly format: FormatName }
  readonly required?: readonly string[]
  readonly exactlyOne?: readonly string[]
  readonly atLeastOne?: readonly string[]
}

/** Keywords that a validator has to be told about. */
export const ownKeywords = ['section', 'secret', 'allowed', 'exactlyOne', 'atLeastOne'] as const

export const closed = { additionalProperties: false } as const

const maxItems = 100_000

export function text(
  format: FormatName,
  description: string,
  extra: { readonly default?: string; readonly secret?: boolean } = {},
) {
  return Type.String({ format, description, ...extra })
}

export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  description: string,
  extra: { readonly default?: Words[number] } = {},
) {
  return Type.Unsafe<Words[number]>({ enum: [...words], description, ...extra })
}

export function list<Item extends TSchema>(
  item: Item,
  description: string,
  extra: { readonly default?: unknown[]; readonly minItems?: number; readonly uniqueItems?: boolean } = {},
) {
  return Type.Array(item, { maxItems, description, ...extra })
}

/** A mapping whose keys are names that the admin chose. */
export function namedBy<Item extends TSchema>(
  format: FormatName,
  item: Item,
  description: string,
  extra: { readonly default?: object; readonly minProperties?: number } = {},
) {
  return Type.Record(Type.String(), item, { propertyNames: { format }, description, ...extra })
}

/** The schema of the values of a mapping with free names. */
export function valuesOf(schema: SchemaNode): SchemaNode | undefined {
  return Object.values(schema.patternProperties ?? {})[0]
}
