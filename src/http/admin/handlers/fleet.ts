import type { Handlers } from '../endpoint.ts'
import type { fleetEndpoints } from '../fleet-endpoints.ts'
import type { ChangeOptions, FleetOperations, GroupOrProfile } from '../fleet-operations.ts'
import { pageOfAll } from './page.ts'

/** Machines, and what admins say of them: each endpoint and the operation that answers it. */
export function fleetHandlers(fleet: FleetOperations): Handlers<typeof fleetEndpoints> {
  const show =
    (kind: GroupOrProfile) =>
    ({ params }: { readonly params: { readonly name: string } }) =>
      fleet.showRecord(kind, params.name)
  return {
    listHosts: ({ query }) => fleet.listHosts(query),
    showHost: ({ params }) => fleet.showHost(params.id),
    putHost: ({ params, body, change }) => fleet.putHost(params.id, body, change),
    removeHost: ({ params, query, change }) => fleet.removeHost(params.id, withReason(change, query)),
    listSeen: ({ query }) => fleet.listSeen(query),
    adoptHost: ({ body, change }) => fleet.adoptHost(body, change),
    importRecords: ({ body, change }) => fleet.importRecords(body, change),
    exportRecords: async ({ query: { all = false } }) => ({ text: await fleet.exportRecords({ all }) }),

    listGroups: async () => ({ groups: await fleet.listRecords('group') }),
    showGroup: show('group'),
    putGroup: ({ params, body, change }) => fleet.putRecord('group', params.name, body, change),
    removeGroup: ({ params, query, change }) =>
      fleet.removeRecord('group', params.name, withReason(change, query)),
    listProfiles: async () => ({ profiles: await fleet.listRecords('profile') }),
    showProfile: show('profile'),
    putProfile: ({ params, body, change }) => fleet.putRecord('profile', params.name, body, change),
    removeProfile: ({ params, query, change }) =>
      fleet.removeRecord('profile', params.name, withReason(change, query)),

    listPins: ({ query }) => fleet.listPins(query),
    setPin: ({ body, change }) => fleet.setPin(body, change),
    removePin: ({ params: target, query: { arch, reason }, change }) =>
      fleet.removePin(
        { target, ...(arch !== undefined && { arch }), ...(reason !== undefined && { reason }) },
        change,
      ),
    pinnable: async ({ query }) => ({ options: await fleet.pinnable(query) }),

    setMode: ({ body, change }) => fleet.setMode(body, change),
    releaseMode: ({ params: target, query: { reason }, change }) =>
      fleet.releaseMode({ target, ...(reason !== undefined && { reason }) }, change),

    listInstalls: async ({ query: { host, state, ...page } }) => {
      const installs = await fleet.listInstalls()
      const wanted = installs.filter(
        (install) =>
          (host === undefined || install.host === host) && (state === undefined || install.state === state),
      )
      return pageOfAll(wanted, (install) => install.host, page)
    },
    armInstall: ({ body, change }) => fleet.armInstall(body, change),
    endInstall: ({ body, change }) => fleet.endInstall(body, change),

    listReports: ({ query }) => fleet.listReports(query),
    revokeBootTokens: ({ params, body, change }) =>
      fleet.revokeBootTokens({ host: params.id, ...body }, change),

    listTokens: async () => ({ tokens: await fleet.listTokens() }),
    createToken: ({ body, change }) => fleet.createToken(body, change),
    revokeToken: ({ params, query, change }) => fleet.revokeToken(params.id, withReason(change, query)),

    listAudit: ({ query }) => fleet.listAudit(query),
    backup: ({ body }) => fleet.backup(body),
    restore: ({ body, change }) => fleet.restore(body, change),
  }
}

function withReason(
  change: ChangeOptions,
  { reason }: { readonly reason?: string },
): ChangeOptions & { readonly reason?: string } {
  return reason === undefined ? change : { ...change, reason }
}
