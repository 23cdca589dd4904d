/** The part of JSON Schema that requests are described in. */
export interface RequestSchema {
  readonly properties?: Readonly<Record<string, RequestSchema>>
  readonly items?: RequestSchema
  readonly additionalProperties?: unknown
}

/** The schema of a place inside of a request; `/target/kind` is a JSON pointer as the validator tells it. */
export function schemaAt(schema: RequestSchema | undefined, pointer: string): RequestSchema | undefined {
  let place = schema
  for (const name of namesIn(pointer)) {
    const properties = place?.properties
    place = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : place?.items
  }
  return place
}

/** What stands at that place of a request. */
export function valueAt(data: unknown, pointer: string): unknown {
  let place = data
  for (const name of namesIn(pointer)) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined
    place = (place as Readonly<Record<string, unknown>>)[name]
  }
  return place
}

function namesIn(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
