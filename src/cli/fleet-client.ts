import type { Static } from 'typebox'
import type { Endpoint } from '../http/admin/endpoint.ts'
import { controlUserHeader, fleetEndpoints } from '../http/admin/fleet-endpoints.ts'
import type { ChangeOptions, FleetOperations } from '../http/admin/fleet-operations.ts'
import { maxListLimit } from '../http/admin/schemas/fleet.ts'
import type { Reader } from './read-value.ts'
import { schemaReader } from './schema-reader.ts'

/** One request to the running service, as `control-client.ts` sends it. */
export interface FleetCall {
  readonly method: Endpoint['method']
  readonly path: string
  readonly read: Reader<unknown>
  readonly query?: object
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly isWork: boolean
}

export type CallFleet = (call: FleetCall) => Promise<unknown>

interface Given {
  /** Of the path, in its order. */
  readonly at?: readonly string[]
  readonly query?: object
  readonly body?: object
  readonly change?: ChangeOptions
}

type Endpoints = typeof fleetEndpoints
type Answer<Place> = Place extends { readonly answer: infer Schema } ? Static<Schema & {}> : undefined

/**
 * The operations on machines of a running service. Where each of them lives, and what its answer looks like, is told
 * by the table that the service makes its routes from.
 */
export function createFleetClient(call: CallFleet): FleetOperations {
  async function ask<Name extends keyof Endpoints>(
    name: Name,
    { at = [], query, body, change }: Given = {},
  ): Promise<Answer<Endpoints[Name]>> {
    const endpoint: Endpoint = fleetEndpoints[name]
    const parameters = { ...query, ...(change?.dryRun === true && { dryRun: true }) }
    const answer = await call({
      method: endpoint.method,
      path: `/api/v1${filled(endpoint.path, at)}`,
      read: endpoint.answer === undefined ? () => undefined : readerOf(endpoint.answer),
      ...(Object.keys(parameters).length > 0 && { query: parameters }),
      ...(body !== undefined && { body }),
      ...(change !== undefined && { headers: headersOf(change) }),
      // A change is acknowledged when it is on disk; how long that takes is not for us to say.
      isWork: endpoint.method !== 'GET',
    })
    return answer as Answer<Endpoints[Name]>
  }

  return {
    listHosts: (query) => ask('listHosts', { query }),
    showHost: (id) => ask('showHost', { at: [id] }),
    putHost: (id, body, change) => ask('putHost', { at: [id], body, change }),
    removeHost: (id, change) => ask('removeHost', { at: [id], query: reasonOf(change), change }),
    importRecords: (body, change) => ask('importRecords', { body, change }),
    exportRecords: async ({ all }) => (await ask('exportRecords', { query: { all } })).text,
    listSeen: (query) => ask('listSeen', { query }),
    adoptHost: (body, change) => ask('adoptHost', { body, change }),

    listRecords: async (kind) =>
      kind === 'group' ? (await ask('listGroups')).groups : (await ask('listProfiles')).profiles,
    showRecord: (kind, name) => ask(kind === 'group' ? 'showGroup' : 'showProfile', { at: [name] }),
    putRecord: (kind, name, body, change) =>
      ask(kind === 'group' ? 'putGroup' : 'putProfile', { at: [name], body, change }),
    removeRecord: (kind, name, change) =>
      ask(kind === 'group' ? 'removeGroup' : 'removeProfile', {
        at: [name],
        query: reasonOf(change),
        change,
      }),

    listPins: (query) => ask('listPins', { query }),
    setPin: (body, change) => ask('setPin', { body, change }),
    removePin: ({ target, ...query }, change) =>
      ask('removePin', { at: [target.kind, target.name], query, change }),
    pinnable: async (query) => (await ask('pinnable', { query })).options,

    setMode: (body, change) => ask('setMode', { body, change }),
    releaseMode: ({ target, ...query }, change) =>
      ask('releaseMode', { at: [target.kind, target.name], query, change }),

    async listInstalls() {
      const installs = []
      for (let after: string | undefined; ; ) {
        const page = await ask('listInstalls', { query: { limit: maxListLimit, after } })
        installs.push(...page.items)
        if (page.next === undefined || page.items.length === 0) return installs
        after = page.next
      }
    },
    armInstall: (body, change) => ask('armInstall', { body, change }),
    endInstall: (body, change) => ask('endInstall', { body, change }),

    listBoots: (query) => ask('listBoots', { query }),
    listReports: (query) => ask('listReports', { query }),
    revokeBootTokens: ({ host, ...body }, change) => ask('revokeBootTokens', { at: [host], body, change }),

    listTokens: async () => (await ask('listTokens')).tokens,
    createToken: (body, change) => ask('createToken', { body, change }),
    revokeToken: (id, change) => ask('revokeToken', { at: [id], query: reasonOf(change), change }),
    // The service asks that of itself; nobody hands a credential to a command.
    authenticate: () => undefined,

    listAudit: (query) => ask('listAudit', { query }),
    backup: (body) => ask('backup', { body }),
    restore: (body, change) => ask('restore', { body, change }),
  }
}

/** `/hosts/:id` with its names in place, whatever characters they have. */
function filled(path: string, names: readonly string[]): string {
  const rest = [...names]
  return path.replace(/:\w+/g, () => encodeURIComponent(rest.shift() ?? ''))
}

function reasonOf({ reason }: { readonly reason?: string }): object {
  return reason === undefined ? {} : { reason }
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
