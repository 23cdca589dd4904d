import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { allowedText, foundText } from './allowed-text.ts'
import { type ConfigPath, valueAt } from './config-path.ts'
import { exampleLine, exampleText } from './example-text.ts'
import { type FormatName, formats } from './formats.ts'
import { isMisspelt, valueHint } from './problem-hints.ts'
import { ownKeywords, type SchemaNode } from './schema-parts.ts'
import { suggestion } from './suggest.ts'

/** A mistake at a path; where that is in a file is for the caller to say. */
export interface SchemaProblem {
  readonly path: ConfigPath
  /** Whether the key itself is wrong, or what stands behind it. */
  readonly part: 'key' | 'value'
  readonly message: string
  readonly hint?: string
  /** What was meant, for a value that YAML took for a number or a truth value; asked with how it was written. */
  readonly hintFor?: (source: string) => string | undefined
}

export type Validate = (data: unknown) => readonly SchemaProblem[]

/**
 * Makes a function that tells every way in which data is not what the schema says. The schema is compiled when the
 * function is first used: that takes longer than most commands do.
 */
export function createValidate(schema: TSchema): Validate {
  let validate: ValidateFunction | undefined
  return (data) => {
    validate ??= compile(schema)
    if (validate(data)) return []
    const told = new Map<string, SchemaProblem>()
    for (const problem of problemsOf(validate.errors ?? [], data)) {
      const key = JSON.stringify([problem.path, problem.message])
      if (!told.has(key)) told.set(key, problem)
    }
    return [...told.values()]
  }
}

function compile(schema: TSchema): ValidateFunction {
  // `strict` finds misspelt keywords; `verbose` hands each error its part of the schema. That the schema itself is one
  // is for a test to say: asking takes as long as compiling it.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    strictTypes: false,
    validateSchema: false,
  })
  for (const [name, { problem }] of Object.entries(formats)) {
    ajv.addFormat(name, { type: 'string', validate: (text: string) => problem(text) === undefined })
  }
  for (const keyword of ownKeywords) {
    const rule = keyRules[keyword as keyof typeof keyRules]
    if (rule === undefined) ajv.addKeyword(keyword)
    else ajv.addKeyword({ keyword, type: 'object', schemaType: 'array', errors: false, validate: rule })
  }
  return ajv.compile(schema)
}

const keyRules = {
  exactlyOne: (keys: readonly string[], data: object) => presentKeys(keys, data).length === 1,
  atLeastOne: (keys: readonly string[], data: object) => presentKeys(keys, data).length > 0,
}

function presentKeys(keys: readonly string[], data: unknown): readonly string[] {
  return keys.filter((key) => typeof data === 'object' && data !== null && Object.hasOwn(data, key))
}

function problemsOf(errors: readonly ErrorObject[], data: unknown): readonly SchemaProblem[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors.flatMap((error) => {
    const path = pathOf(error.instancePath, data)
    // Of a value that may take several forms, only the form that was probably meant is spoken of.
    const choice = choices.find((candidate) => isInside(error, candidate))
    if (choice !== undefined && !isMeantForm(choice, error)) return []
    if (error.keyword === 'anyOf' && hasMeantForm(error)) return []
    const problem = translate(error, path)
    return problem === undefined ? [] : [problem]
  })
}

function isInside(error: ErrorObject, choice: ErrorObject): boolean {
  return (
    error.schemaPath.startsWith(`${choice.schemaPath}/`) &&
    `${error.instancePath}/`.startsWith(`${choice.instancePath}/`)
  )
}

/** The form with the type that was found: an object for an object. */
function meantForm({ parentSchema, data }: ErrorObject): number {
  const forms = (parentSchema as SchemaNode).anyOf ?? []
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return isObject ? forms.findIndex(({ type }) => type === 'object') : -1
}

function hasMeantForm(choice: ErrorObject): boolean {
  return meantForm(choice) >= 0
}

function isMeantForm(choice: ErrorObject, error: ErrorObject): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/${meantForm(choice)}/`)
}

function translate(error: ErrorObject, path: ConfigPath): SchemaProblem | undefined {
  const { keyword, params, data } = error
  const schema = (error.parentSchema ?? {}) as SchemaNode
  const value: Pick<SchemaProblem, 'path' | 'part'> = { path, part: 'value' }
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(params.additionalProperty)
      const allowed = Object.keys(schema.properties ?? {})
      return {
        path: [...path, key],
        part: 'key',
        message: `unknown key, allowed: ${[...allowed].sort().join(', ')}`,
        hint: suggestion(key, allowed),
      }
    }
    case 'propertyNames': {
      const name = String(params.propertyName)
      const { format } = schema.propertyNames ?? { format: 'name' as const }
      return {
        path: [...path, name],
        part: 'key',
        message: `found the name ${formatMessage(format, name)}`,
      }
    }
    case 'required': {
      const key = String(params.missingProperty)
      // The misspelt key is told by itself.
      if (isMisspelt(schema, key, data)) return undefined
      const allowed = allowedText(schema.properties?.[key] ?? {})
      const message = `the key ${JSON.stringify(key)} is missing, allowed: ${allowed}`
      return { path, part: 'key', message, hint: `for example ${exampleLine(schema, key)}` }
    }
    case 'exactlyOne':
    case 'atLeastOne': {
      const keys = (keyword === 'exactlyOne' ? schema.exactlyOne : schema.atLeastOne) ?? []
      const found = presentKeys(keys, data).join(' and ') || 'none of them'
      const how = keyword === 'exactlyOne' ? 'exactly one' : 'at least one'
      const message = `found ${found}, allowed: ${how} of ${keys.join(', ')}`
      const [first] = keys
      const isMeant = keys.some((key) => isMisspelt(schema, key, data))
      if (first === undefined || isMeant || presentKeys(keys, data).length > 0)
        return { path, part: 'key', message }
      return { path, part: 'key', message, hint: `for example ${exampleLine(schema, first)}` }
    }
    case 'minimum':
    case 'maximum':
    case 'type':
    case 'const':
    case 'anyOf':
    case 'enum':
      if (isSecret(schema)) return { ...value, message: hiddenMessage(schema) }
      return {
        ...value,
        message: `found ${foundText(data)}, allowed: ${allowedText(schema)}`,
        hint: valueHint(schema, data),
        hintFor: (source) => valueHint(schema, data, source),
      }
    case 'format':
      // The name of a key has a path of its own: see propertyNames.
      if (error.propertyName !== undefined || schema.format === undefined) return undefined
      if (isSecret(schema)) return { ...value, message: hiddenMessage(schema) }
      return {
        ...value,
        message: `found ${formatMessage(schema.format, String(data))}`,
        hint: valueHint(schema, data),
      }
    case 'minProperties':
    case 'minItems':
      return {
        ...value,
        message: 'found no entry, allowed: at least one',
        hint: `for example ${exampleText(schema)}`,
      }
    case 'uniqueItems':
      return {
        path: [...path, Number(params.j)],
        part: 'value',
        message: `found ${foundText((data as unknown[])[Number(params.j)])} twice, allowed: once`,
      }
    case 'maxItems':
      return { ...value, message: `found ${(data as unknown[]).length} items, allowed: ${params.limit}` }
    default:
      return { ...value, message: `found ${foundText(data)}: ${error.message ?? keyword}` }
  }
}

/** In any of its forms. */
function isSecret({ secret, anyOf }: SchemaNode): boolean {
  return secret === true || anyOf?.some(isSecret) === true
}

function hiddenMessage(schema: SchemaNode): string {
  return `found something else (hidden), allowed: ${allowedText(schema)}`
}

function formatMessage(format: FormatName, text: string): string {
  const { allowed, problem } = formats[format]
  const reason = problem(text)
  return `${foundText(text)}${reason ? ` (${reason})` : ''}, allowed: ${allowed}`
}

/** `/streams/a~1b/mirrors/0` as keys and indexes. */
function pathOf(pointer: string, data: unknown): ConfigPath {
  if (pointer === '') return []
  const path: (string | number)[] = []
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(valueAt(data, path)) ? Number(key) : key)
  }
  return path
}
