import { nearestWord } from '../core/nearest-word.ts'
import { exampleText, neededKeys } from './example-text.ts'
import { formatHint } from './format-hints.ts'
import { type FormatName, formats } from './formats.ts'
import type { SchemaNode } from './schema-parts.ts'
import { suggestion } from './suggest.ts'

/**
 * What was probably meant by a value of a wrong type or a word outside of its set.
 * @param source the value as it was written in YAML, where that is known: `4.10` is the number 4.1
 */
export function valueHint(schema: SchemaNode, data: unknown, source?: string): string | undefined {
  if (schema.anyOf !== undefined) return choiceHint(schema.anyOf, data)
  if (typeof data === 'string') return textHint(schema, data)
  const isScalar = typeof data === 'number' || typeof data === 'boolean'
  if (isScalar && schema.type === 'string' && schema.format !== undefined) {
    return source === undefined ? undefined : scalarHint(schema.format, source)
  }
  if (isScalar && schema.type === 'array') return listHint(schema, source ?? String(data))
  return data === null || data === undefined ? `for example ${exampleText(schema)}` : undefined
}

/** `did you mean "live"?`, or the mapping that a text alone stands for: `{ profile: worker }`. */
function choiceHint(forms: readonly SchemaNode[], data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined
  const words = forms.flatMap((form) => form.enum ?? [])
  const form = forms.find(({ type }) => type === 'object')
  return suggestion(data, words) ?? (form && mappingHint(form, data))
}

function textHint(schema: SchemaNode, text: string): string | undefined {
  if (schema.enum !== undefined) return suggestion(text, schema.enum)
  if (schema.const !== undefined && String(schema.const) === text) return `write it without quotes: ${text}`
  if (schema.format !== undefined) return formatHint(schema.format, text)
  switch (schema.type) {
    case 'integer':
      return isInRange(schema, text) ? `write it without quotes: ${text}` : undefined
    case 'boolean':
      return truthHint(text)
    case 'array':
      return listHint(schema, text)
    case 'object':
      return mappingHint(schema, text)
    default:
      return undefined
  }
}

function isInRange({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: SchemaNode, text: string): boolean {
  return /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
}

/** YAML 1.2 has neither `yes` nor `on`. */
function truthHint(text: string): string | undefined {
  const word = text.toLowerCase()
  if (word === 'true' || word === 'false') return `write it without quotes: ${word}`
  if (['yes', 'on'].includes(word)) return 'write true'
  return ['no', 'off'].includes(word) ? 'write false' : suggestion(text, ['true', 'false'])
}

/** A number or truth value where text is due: quotes help only where the text in them is a good one. */
function scalarHint(format: FormatName, source: string): string | undefined {
  return formats[format].problem(source) === undefined
    ? `write it in quotes: '${source}'`
    : formatHint(format, source)
}

function listHint({ items }: SchemaNode, text: string): string | undefined {
  return items !== undefined && isShort(text) && fits(items, text) ? `write a list: [${text}]` : undefined
}

/** The mapping whose one text this can be: a URL alone stands for `{ url: … }`. */
function mappingHint(schema: SchemaNode, text: string): string | undefined {
  if (!isShort(text)) return undefined
  const keys = schema.exactlyOne ?? neededKeys(schema)
  const isWhole = schema.exactlyOne !== undefined || keys.length === 1
  const key = isWhole ? keys.find((name) => fits(schema.properties?.[name] ?? {}, text)) : undefined
  return key === undefined ? undefined : `write { ${key}: ${text} }`
}

function isShort(text: string): boolean {
  return /^[^\s,{}[\]#'"]{1,120}$/.test(text)
}

function fits({ type, format }: SchemaNode, text: string): boolean {
  return type === 'string' && format !== undefined && formats[format].problem(text) === undefined
}

/** Whether an unknown key of the mapping is this one, misspelt. */
export function isMisspelt(schema: SchemaNode, key: string, data: unknown): boolean {
  const known = Object.keys(schema.properties ?? {})
  return Object.keys(data ?? {}).some((found) => !known.includes(found) && nearestWord(found, known) === key)
}
