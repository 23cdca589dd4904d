import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../../config/load-config.ts'
import { architectures } from '../../core/arch.ts'
import { ServiceError } from '../../core/errors.ts'
import { type FleetChange, runTimeSettingId, type Target } from '../../core/fleet.ts'
import type { Host, Inventory } from '../../core/host.ts'
import { endInstall } from '../../core/install.ts'
import type { ChangeOptions, FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { HostDetail, HostQuery, PutRecord } from '../../http/admin/schemas/fleet.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { checkRecord, keptSpec, recordContext, takenMarks, takenText } from './check-record.ts'
import { findHost, isOfFile, placeText } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { FleetMemory } from './fleet-memory.ts'
import { reportSummary } from './history-operations.ts'
import type { HostFacts, HostList } from './host-list.ts'
import type { HostHistory, HostShow } from './host-show.ts'
import { installChange, newMarks } from './install-change.ts'
import { pageOf } from './page-of.ts'
import { checkRevision, nextRecord, type Revisions } from './revisions.ts'
import { withSecretsKept } from './shown-spec.ts'

export interface HostOperationsOptions
  extends Pick<FleetContext, 'queue' | 'memory' | 'store' | 'view' | 'clock' | 'boots'> {
  readonly hosts: HostList
  readonly show: HostShow
  readonly revisions: Revisions
  readonly loaded: () => LoadedConfig
  /** A record changed what its host is pinned to; must not throw. */
  readonly onRecords: () => void
}

/** As many of each as people look at. */
const shownHistory = 10

export function createHostOperations(
  options: HostOperationsOptions,
): Pick<FleetOperations, 'listHosts' | 'showHost' | 'putHost' | 'removeHost'> {
  const { queue, memory, store, view, clock, boots, hosts, show, revisions } = options

  async function historyOf(host: string): Promise<HostHistory> {
    const [lastBoots, reports] = await Promise.all([
      boots.lastBoots(host),
      store.listReports({ host, limit: shownHistory }),
    ])
    return { boots: lastBoots, reports: reports.items.map(reportSummary) }
  }

  async function detailOf(id: string): Promise<() => HostDetail> {
    const [history, facts] = await Promise.all([historyOf(id), hosts.facts()])
    return () => show.detail(findHost(id, view().inventory), history, facts)
  }

  function planPut(
    id: string,
    { spec: sent, reason }: PutRecord,
    change: ChangeOptions,
    answer: () => HostDetail,
  ): FleetPlan<HostDetail> {
    const now = clock.now()
    const { inventory } = view()
    refuseOfFile(inventory.hostsById.get(id), 'changed')
    const before = memory.records.host.get(id)
    checkRevision('host', id, before, change)
    const spec = withSecretsKept(sent, before?.spec)
    const context = recordContext({ loaded: options.loaded(), inventory, by: change.actor.by, now })
    const host = checkRecord('host', id, spec, context)
    const taken = takenMarks(host, inventory)
    const [first] = taken
    if (first !== undefined) {
      throw new ServiceError('CONFLICT', taken.map(takenText).join('; '), {
        field: `spec.${first.field}`,
        hint: 'a mark belongs to one host',
      })
    }
    const kept = keptSpec(spec)
    if (before !== undefined && isDeepStrictEqual(before.spec, kept)) {
      return { changes: [], audit: [], answer }
    }
    const by = change.actor.by
    const record = nextRecord('host', id, kept, { before, by, at: now, revision: revisions.next() })
    return {
      changes: [
        { put: 'record', record },
        ...settingsWithMacs(host, memory),
        ...installWithMarks(host, memory),
      ],
      audit: [
        auditEntry(change, now, {
          action: 'host.put',
          target: `host/${id}`,
          summary: before === undefined ? `host ${id} is new` : `the record of host ${id} is changed`,
          reason,
        }),
      ],
      answer,
      after: options.onRecords,
    }
  }

  function planRemove(id: string, change: ChangeOptions & { readonly reason?: string }): FleetPlan<void> {
    const now = clock.now()
    const host = view().inventory.hostsById.get(id)
    refuseOfFile(host, 'removed')
    const before = memory.records.host.get(id)
    if (before === undefined) findHost(id, view().inventory)
    checkRevision('host', id, before, change)
    return {
      changes: [
        { remove: 'record', kind: 'host', name: id },
        ...(host === undefined ? [] : settingsWithMacs(host, memory)),
        ...withoutInstall(id, memory, view().inventory, { by: change.actor.by, at: now }),
      ],
      audit: [
        auditEntry(change, now, {
          action: 'host.remove',
          target: `host/${id}`,
          summary: `host ${id} is removed; pins that were set for it stay with its MACs`,
          reason: change.reason,
        }),
      ],
      answer: () => {},
      after: options.onRecords,
    }
  }

  async function matching(query: HostQuery): Promise<readonly string[]> {
    const { search, label, group, profile, stream, mode, source } = query
    const isAny = [search, label, group, profile, stream, mode, source].every((value) => value === undefined)
    if (isAny) return hosts.ids()
    const isWanted = matcher(query)
    return (await hosts.facts()).filter(isWanted).map(({ host }) => host.id)
  }

  return {
    async listHosts(query) {
      const ids = await matching(query)
      const page = pageOf(ids, query, String, (id) => view().inventory.hostsById.get(id))
      const there = page.items.filter((host) => host !== undefined)
      return { ...page, items: there.map(show.summary) }
    },
    async showHost(id) {
      findHost(id, view().inventory)
      return (await detailOf(id))()
    },
    putHost: async (id, body, change) => {
      const answer = await detailOf(id)
      return queue.change(() => planPut(id, body, change, answer), change)
    },
    removeHost: (id, change) => queue.change(() => planRemove(id, change), change),
  }
}

/** @throws ServiceError CONFLICT naming the file */
export function refuseOfFile(record: Pick<Host, 'origin'> | undefined, verb: 'changed' | 'removed'): void {
  if (record === undefined || !isOfFile(record.origin)) return
  const { kind, name } = record.origin
  const runTime = kind === 'profile' ? '' : '; pins, modes and installs can be set here'
  throw new ServiceError(
    'CONFLICT',
    `${kind} ${name} is declared in ${placeText(record.origin)}, and ${verb} there alone`,
    { field: kind, hint: `edit that file${runTime}` },
  )
}

/** What was set for a host at run time stays with its MACs when its record goes, so it keeps the newest ones. */
export function settingsWithMacs({ id, macs }: Host, { settings }: FleetMemory): readonly FleetChange[] {
  const target: Target = { kind: 'host', name: id }
  const ids = [
    runTimeSettingId({ kind: 'mode', target }),
    ...[undefined, ...architectures].map((arch) => runTimeSettingId({ kind: 'pin', target, arch })),
  ]
  return ids.flatMap((key): readonly FleetChange[] => {
    const setting = settings.get(key)
    if (setting === undefined || isDeepStrictEqual(setting.macs, macs)) return []
    return [{ put: 'setting', setting: { ...setting, macs } }]
  })
}

/** An install goes on to be found by what its host is recognised by. */
export function installWithMarks(host: Host, { installs }: FleetMemory): readonly FleetChange[] {
  const install = installs.get(host.id)
  return install === undefined ? [] : newMarks([install], { hostsById: new Map([[host.id, host]]) })
}

/** Whoever gets the id next is not installed because of it; what was done stays known. */
export function withoutInstall(
  id: string,
  { installs }: FleetMemory,
  inventory: Inventory,
  { by, at }: { readonly by: string; readonly at: number },
): readonly FleetChange[] {
  const install = installs.get(id)
  if (install === undefined) return []
  // The last moment in which its machine is known.
  if (install.state !== 'armed') return newMarks([install], inventory)
  return [installChange(endInstall(install, { as: 'disarmed', by, at }), inventory)]
}

function matcher({
  search,
  label,
  group,
  profile,
  stream,
  mode,
  source,
}: HostQuery): (facts: HostFacts) => boolean {
  const text = search?.toLowerCase()
  const digits = search === undefined ? undefined : macDigits(search)
  const [key = '', value] = label === undefined ? [] : splitLabel(label)
  return (facts) => {
    const { host } = facts
    if (source !== undefined && isOfFile(host.origin) !== (source === 'file')) return false
    if (label !== undefined && host.labels[key] !== value) return false
    if (group !== undefined && !facts.groups.includes(group)) return false
    if (profile !== undefined && facts.profile !== profile) return false
    if (stream !== undefined && facts.stream !== stream) return false
    if (mode !== undefined && facts.mode !== mode) return false
    if (text === undefined) return true
    return facts.text.includes(text) || (digits !== undefined && hasMacWith(digits, host))
  }
}

/** Less may be anything. */
const fewestMacDigits = 4

/** The digits of a MAC, or of a part of one, however it is written: `5254.00ab`, `52-54-00`, `525400`. */
function macDigits(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[:.-]/g, '')
  return digits.length >= fewestMacDigits && /^[0-9a-f]+$/.test(digits) ? digits : undefined
}

function hasMacWith(digits: string, { macs }: Host): boolean {
  return macs.some((mac) => mac.replaceAll(':', '').includes(digits))
}

/** @throws ServiceError USAGE without a `=` */
function splitLabel(label: string): readonly [string, string] {
  const at = label.indexOf('=')
  if (at > 0) return [label.slice(0, at), label.slice(at + 1)]
  throw new ServiceError('USAGE', `label ${JSON.stringify(label)} is not understood`, {
    field: 'label',
    hint: 'for example site=edge',
  })
}
