import { suggestion } from '../../config/suggest.ts'
import { ServiceError } from '../../core/errors.ts'
import type { RecordKind } from '../../core/fleet.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import { findGroup, findHost } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'

type Lists = Pick<FleetOperations, 'listHosts' | 'listPins' | 'listReports' | 'listAudit'>
type Filter = readonly [kind: RecordKind, name: string | undefined]

/**
 * The same lists; one that is empty because nobody has the name that was asked for says so instead, and which name is
 * near it. What has gone and left a trace is a name as well.
 */
export function checkFilters(
  lists: Lists,
  { store, view, boots }: Pick<FleetContext, 'store' | 'view' | 'boots'>,
): Lists {
  async function leftTrace(kind: RecordKind, name: string): Promise<boolean> {
    const { total } = await store.listAudit({ target: `${kind}/${name}`, limit: 1 })
    if (total > 0) return true
    if (kind !== 'host') return false
    if (await boots.hasBooted(name)) return true
    return (await store.listReports({ host: name, limit: 1 })).total > 0
  }

  function find(kind: RecordKind, name: string): unknown {
    const { inventory } = view()
    if (kind === 'host') return findHost(name, inventory)
    if (kind === 'group') return findGroup(name, inventory)
    return inventory.profiles.get(name) ?? noSuchProfile(name, [...inventory.profiles.keys()])
  }

  async function check(kind: RecordKind, name: string): Promise<void> {
    try {
      find(kind, name)
    } catch (error) {
      if (!(await leftTrace(kind, name))) throw error
    }
  }

  async function checked<Page extends { readonly total: number }>(
    page: Promise<Page>,
    filters: readonly Filter[],
  ): Promise<Page> {
    const found = await page
    if (found.total > 0) return found
    for (const [kind, name] of filters) if (name !== undefined) await check(kind, name)
    return found
  }

  return {
    listHosts: (query) =>
      checked(lists.listHosts(query), [
        ['group', query.group],
        ['profile', query.profile],
      ]),
    listPins: (query) =>
      checked(lists.listPins(query), [
        ['host', query.host],
        ['group', query.group],
      ]),
    listReports: (query) => checked(lists.listReports(query), [['host', query.host]]),
    listAudit: (query) => checked(lists.listAudit(query), [filterOf(query.target)]),
  }
}

/** `host/rack1-n01`; what else changes are written of has no record. */
function filterOf(target = ''): Filter {
  const [, kind, name] = /^(host|group|profile)\/(.+)$/.exec(target) ?? []
  return [(kind ?? 'host') as RecordKind, name]
}

function noSuchProfile(name: string, names: readonly string[]): never {
  throw new ServiceError('NOT_FOUND', `there is no profile ${name}`, {
    field: 'profile',
    hint: suggestion(name, names) ?? `profiles: ${names.slice(0, 10).join(', ') || 'none'}`,
  })
}
