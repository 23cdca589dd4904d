import { list, number, type Reader, text, truth, unlike, word } from './read-value.ts'

/** The part of JSON Schema that the API's answers are described in. */
interface AnswerSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: AnswerSchema
  readonly properties?: Readonly<Record<string, AnswerSchema>>
  readonly patternProperties?: Readonly<Record<string, AnswerSchema>>
  readonly required?: readonly string[]
}

/**
 * A reader made from the schema of an answer. What the schema does not name is left out, so that a service that says
 * more is understood as well.
 * @throws Error for a schema that no answer of ours has
 */
export function schemaReader(schema: AnswerSchema): Reader<unknown> {
  if (schema.enum !== undefined) return word(schema.enum)
  switch (schema.type) {
    case 'string':
      return text
    case 'number':
    case 'integer':
      return number
    case 'boolean':
      return truth
    case 'array':
      return list(schemaReader(schema.items ?? {}))
    case 'object':
      return schema.patternProperties === undefined ? fields(schema) : record(schema.patternProperties)
    case undefined:
      return (value) => value
    default:
      throw new Error(`no answer has the type ${schema.type}`)
  }
}

function fields({ properties = {}, required = [] }: AnswerSchema): Reader<unknown> {
  const readers = Object.entries(properties).map(
    ([name, schema]) => [name, schemaReader(schema), required.includes(name)] as const,
  )
  return (value, place) => {
    const given = objectOf(value, place)
    return Object.fromEntries(
      readers.flatMap(([name, read, isRequired]) => {
        const field = Object.hasOwn(given, name) ? given[name] : undefined
        return field === undefined && !isRequired ? [] : [[name, read(field, `${place}.${name}`)]]
      }),
    )
  }
}

/** Any names, each with a value of the one kind. */
function record(patterns: Readonly<Record<string, AnswerSchema>>): Reader<unknown> {
  const [schema = {}] = Object.values(patterns)
  const read = schemaReader(schema)
  return (value, place) =>
    Object.fromEntries(
      Object.entries(objectOf(value, place)).map(([name, entry]) => [name, read(entry, `${place}.${name}`)]),
    )
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unlike(place, 'an object')
  return value as Readonly<Record<string, unknown>>
}
