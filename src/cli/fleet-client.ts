import { fleetEndpoints } from '../http/admin/fleet-endpoints.ts'
import type { FleetOperations } from '../http/admin/fleet-operations.ts'
import { maxListLimit } from '../http/admin/schemas/fleet.ts'
import { askByTable, type CallEndpoint } from './ask-by-table.ts'

/** The operations on machines of a running service. */
export function createFleetClient(call: CallEndpoint): FleetOperations {
  const ask = askByTable(fleetEndpoints, call)
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

function reasonOf({ reason }: { readonly reason?: string }): object {
  return reason === undefined ? {} : { reason }
}
