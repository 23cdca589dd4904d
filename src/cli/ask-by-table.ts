import type { Static } from 'typebox'
import type { Endpoint, Endpoints } from '../http/admin/endpoint.ts'
import { controlUserHeader } from '../http/admin/fleet-endpoints.ts'
import type { ChangeOptions } from '../http/admin/fleet-operations.ts'
import type { Reader } from './read-value.ts'
import { schemaReader } from './schema-reader.ts'

/** One request to the running service, as `control-client.ts` sends it. */
export interface EndpointCall {
  readonly method: Endpoint['method']
  readonly path: string
  readonly read: Reader<unknown>
  readonly query?: object
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly isWork: boolean
}

export type CallEndpoint = (call: EndpointCall) => Promise<unknown>

interface Given {
  /** Of the path, in its order. */
  readonly at?: readonly string[]
  readonly query?: object
  readonly body?: object
  readonly change?: ChangeOptions
}

type Answer<Place> = Place extends { readonly answer: infer Schema } ? Static<Schema & {}> : undefined

/**
 * Asks for the operations of a table of the API. Where each of them lives, and what its answer looks like, is told by
 * the table that the service makes its routes from.
 */
export function askByTable<Table extends Endpoints>(table: Table, call: CallEndpoint) {
  return async <Name extends keyof Table>(
    name: Name,
    { at = [], query, body, change }: Given = {},
  ): Promise<Answer<Table[Name]>> => {
    const endpoint = table[name] as Endpoint
    const parameters = { ...query, ...(change?.dryRun === true && { dryRun: true }) }
    const answer = await call({
      method: endpoint.method,
      path: `/api/v1${filled(endpoint.path, at)}`,
      read: endpoint.answer === undefined ? () => undefined : readerOf(endpoint.answer),
      ...(Object.keys(parameters).length > 0 && { query: parameters }),
      ...(body !== undefined && { body }),
      ...(change !== undefined && { headers: headersOf(change) }),
      // Work takes as long as it takes, and a change is acknowledged when it is on disk; neither is for us to hurry.
      isWork: endpoint.method !== 'GET',
    })
    return answer as Answer<Table[Name]>
  }
}

/** `/hosts/:id` with its names in place, whatever characters they have. */
function filled(path: string, names: readonly string[]): string {
  const rest = [...names]
  return path.replace(/:\w+/g, () => encodeURIComponent(rest.shift() ?? ''))
}

function headersOf({ actor, ifRevision }: ChangeOptions): Readonly<Record<string, string>> {
  return {
    [controlUserHeader]: encodeURIComponent(actor.by),
    ...(ifRevision !== undefined &&
      (ifRevision === 0 ? { 'if-none-match': '*' } : { 'if-match': `"${ifRevision}"` })),
  }
}

const readers = new Map<unknown, Reader<unknown>>()

function readerOf(schema: NonNullable<Endpoint['answer']>): Reader<unknown> {
  const reader = readers.get(schema) ?? schemaReader(schema)
  readers.set(schema, reader)
  return reader
}
