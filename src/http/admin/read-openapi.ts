/** What the page shows of one operation. */
export interface DocumentedOperation {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly DocumentedField[]
  readonly body: readonly DocumentedField[]
  readonly answer: readonly DocumentedField[]
}

export interface DocumentedField {
  readonly name: string
  /** `query`, `path`, `header`; absent for fields of a body. */
  readonly place?: string
  readonly isRequired: boolean
  readonly type: string
  readonly description: string
}

export interface Documented {
  readonly version: string
  readonly operations: readonly DocumentedOperation[]
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: Schema
  }[]
  readonly requestBody?: Content
  readonly responses?: Readonly<Record<string, Content>>
}

/** The parts of an OpenAPI document of ours that a reader wants to see, in its order. */
export function readOpenApi(document: object): Documented {
  const { info, paths = {} } = document as {
    readonly info?: { readonly version?: string }
    readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  return {
    version: info?.version ?? '',
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => readOperation(path, method, operation)),
    ),
  }
}

function readOperation(path: string, method: string, operation: Operation): DocumentedOperation {
  const {
    summary = '',
    description = '',
    tags = [],
    parameters = [],
    requestBody,
    responses = {},
  } = operation
  return {
    method: method.toUpperCase(),
    path,
    tag: tags[0] ?? '',
    summary,
    description,
    parameters: parameters.map(({ name, in: place, required = false, description: said, schema = {} }) => ({
      name,
      place,
      isRequired: required,
      type: typeText(schema),
      description: said ?? schema.description ?? '',
    })),
    body: fieldsOf(schemaOf(requestBody)),
    answer: fieldsOf(schemaOf(responses['200'])),
  }
}

function schemaOf(part: Content | undefined): Schema {
  return part?.content?.['application/json']?.schema ?? {}
}

/** Two levels: what is in a list of things is worth to be seen, what is in those seldom. */
function fieldsOf(schema: Schema, before = '', depth = 0): readonly DocumentedField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.type === 'array' ? (field.items ?? {}) : field
    const path = `${before}${name}`
    return [
      {
        name: path,
        isRequired: schema.required?.includes(name) ?? false,
        type: typeText(field),
        description: field.description ?? '',
      },
      ...(depth < 1 ? fieldsOf(inner, `${path}${field.type === 'array' ? '[]' : ''}.`, depth + 1) : []),
    ]
  })
}

function typeText(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.join(' | ')
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {})}`
  return schema.type ?? 'anything'
}
