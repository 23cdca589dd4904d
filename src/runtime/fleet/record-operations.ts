import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../../config/load-config.ts'
import { suggestion } from '../../config/suggest.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Group, Profile } from '../../core/host.ts'
import { originText } from '../../core/origin-text.ts'
import type { ChangeOptions, FleetOperations, GroupOrProfile } from '../../http/admin/fleet-operations.ts'
import type { PutRecord, RecordSummary } from '../../http/admin/schemas/fleet.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { checkRecord, recordContext } from './check-record.ts'
import { isOfFile } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { FactsOfHosts, HostList } from './host-list.ts'
import { refuseOfFile } from './host-operations.ts'
import { compareText } from './page-of.ts'
import { checkRevision, nextRecord, type Revisions } from './revisions.ts'
import { shownSpec, withSecretsKept } from './shown-spec.ts'

/** Groups and profiles: of files, to be read; of the API, to be changed. */
export function createRecordOperations(
  options: Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock'> & {
    readonly hosts: HostList
    readonly revisions: Revisions
    readonly loaded: () => LoadedConfig
    readonly onRecords: () => void
  },
): Pick<FleetOperations, 'listRecords' | 'showRecord' | 'putRecord' | 'removeRecord'> {
  const { queue, memory, view, clock, hosts, revisions, loaded } = options

  function all(kind: GroupOrProfile): readonly (Group | Profile)[] {
    const { groups, profiles } = view().inventory
    return kind === 'group' ? groups : [...profiles.values()]
  }

  function find(kind: GroupOrProfile, name: string): Group | Profile {
    const record = all(kind).find((candidate) => candidate.name === name)
    if (record !== undefined) return record
    const names = all(kind).map((candidate) => candidate.name)
    throw new ServiceError('NOT_FOUND', `there is no ${kind} ${name}`, {
      field: kind,
      hint: suggestion(name, names) ?? `${kind}s: ${names.slice(0, 10).join(', ') || 'none'}`,
    })
  }

  function specOf(kind: GroupOrProfile, name: string): Record<string, unknown> {
    const stored = memory.records[kind].get(name)?.spec
    const { raw } = loaded()
    const written = (kind === 'group' ? raw.groups : raw.profiles)[name]
    return shownSpec(isOfFile(find(kind, name).origin) ? { ...written } : (stored ?? {}))
  }

  function summaryOf(
    kind: GroupOrProfile,
    { name, origin }: Group | Profile,
    counts: ReadonlyMap<string, number>,
  ): RecordSummary {
    const isFile = isOfFile(origin)
    return {
      kind,
      name,
      source: isFile ? 'file' : 'api',
      origin: originText(origin),
      spec: specOf(kind, name),
      revision: isFile ? undefined : memory.records[kind].get(name)?.revision,
      hosts: counts.get(name) ?? 0,
    }
  }

  async function counted(kind: GroupOrProfile): Promise<ReadonlyMap<string, number>> {
    return countsOf(kind, await hosts.facts())
  }

  function planPut(
    kind: GroupOrProfile,
    name: string,
    { spec: sent, reason }: PutRecord,
    change: ChangeOptions,
    answer: () => RecordSummary,
  ): FleetPlan<RecordSummary> {
    const now = clock.now()
    const { inventory } = view()
    refuseOfFile(
      all(kind).find((candidate) => candidate.name === name),
      'changed',
    )
    const before = memory.records[kind].get(name)
    checkRevision(kind, name, before, change)
    const by = change.actor.by
    const spec = withSecretsKept(sent, before?.spec)
    checkRecord(kind, name, spec, recordContext({ loaded: loaded(), inventory, by, now }))
    if (before !== undefined && isDeepStrictEqual(before.spec, spec)) {
      return { changes: [], audit: [], answer }
    }
    const record = nextRecord(kind, name, spec, { before, by, at: now, revision: revisions.next() })
    return {
      changes: [{ put: 'record', record }],
      audit: [
        auditEntry(change, now, {
          action: `${kind}.put`,
          target: `${kind}/${name}`,
          summary: before === undefined ? `${kind} ${name} is new` : `${kind} ${name} is changed`,
          reason,
        }),
      ],
      answer,
      after: options.onRecords,
    }
  }

  function planRemove(
    kind: GroupOrProfile,
    name: string,
    change: ChangeOptions & { readonly reason?: string },
  ): FleetPlan<void> {
    const record = all(kind).find((candidate) => candidate.name === name)
    refuseOfFile(record, 'removed')
    const before = memory.records[kind].get(name)
    if (before === undefined) find(kind, name)
    checkRevision(kind, name, before, change)
    if (kind === 'profile') refuseInUse(name, usersOf(name))
    return {
      changes: [{ remove: 'record', kind, name }],
      audit: [
        auditEntry(change, clock.now(), {
          action: `${kind}.remove`,
          target: `${kind}/${name}`,
          summary: `${kind} ${name} is removed`,
          reason: change.reason,
        }),
      ],
      answer: () => {},
      after: options.onRecords,
    }
  }

  /** Whoever has a profile that is gone is held. */
  function usersOf(profile: string): readonly string[] {
    const { hostsById, groups, unknown } = view().inventory
    const users: string[] = []
    if (unknown.kind === 'profile' && unknown.profile === profile) users.push('unknown machines')
    for (const group of groups) if (group.profile === profile) users.push(`group ${group.name}`)
    for (const host of hostsById.values()) if (host.profile === profile) users.push(`host ${host.id}`)
    return users
  }

  return {
    async listRecords(kind) {
      const counts = await counted(kind)
      const sorted = [...all(kind)].sort((a, b) => compareText(a.name, b.name))
      return sorted.map((record) => summaryOf(kind, record, counts))
    },
    async showRecord(kind, name) {
      find(kind, name)
      const counts = await counted(kind)
      return summaryOf(kind, find(kind, name), counts)
    },
    async putRecord(kind, name, body, change) {
      const counts = await counted(kind)
      const answer = () => summaryOf(kind, find(kind, name), counts)
      const summary = await queue.change(() => planPut(kind, name, body, change, answer), change)
      return change.dryRun === true ? summary : { ...summary, hosts: (await counted(kind)).get(name) ?? 0 }
    },
    removeRecord: (kind, name, change) => queue.change(() => planRemove(kind, name, change), change),
  }
}

function countsOf(kind: GroupOrProfile, facts: FactsOfHosts): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { groups, profile } of facts) {
    const names = kind === 'group' ? groups : profile === undefined ? [] : [profile]
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

const shownUsers = 5

function refuseInUse(profile: string, users: readonly string[]): void {
  if (users.length === 0) return
  const shown = users.slice(0, shownUsers).join(', ')
  const more = users.length > shownUsers ? ` and ${users.length - shownUsers} more` : ''
  throw new ServiceError('CONFLICT', `profile ${profile} is in use by ${shown}${more}`, {
    field: 'profile',
    hint: 'give them another profile first: machines with a profile that is gone are held',
  })
}
