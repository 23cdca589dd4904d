/** The part of JSON Schema that requests are described in. */
export interface RequestSchema {
  readonly properties?: Readonly<Record<string, RequestSchema>>
  readonly items?: RequestSchema
}

/** The schema of a place inside of a request; `/target/kind` is a JSON pointer as the validator tells it. */
export function schemaAt(schema: RequestSchema | undefined, pointer: string): RequestSchema | undefined {
  let place = schema
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const properties = place?.properties
    place = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : place?.items
  }
  return place
}
