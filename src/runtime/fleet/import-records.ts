import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../../config/load-config.ts'
import { parseRecord, type RecordContext } from '../../config/parse-record.ts'
import { ServiceError } from '../../core/errors.ts'
import type { FleetChange, RecordKind, StoredRecord } from '../../core/fleet.ts'
import type { Host, Inventory, Origin } from '../../core/host.ts'
import { visibleText } from '../../core/visible-text.ts'
import type { ChangeOptions, FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { ImportRecords, ImportRecordsReport } from '../../http/admin/schemas/fleet.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { keptSpec, recordContext, recordProblemText, takenMarks, takenText } from './check-record.ts'
import { isOfFile, placeText } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { FleetMemory } from './fleet-memory.ts'
import { installWithMarks, settingsWithMacs, withoutInstall } from './host-operations.ts'
import { createMarkClaims } from './mark-claims.ts'
import { readRecords } from './read-records.ts'
import type { RecordsText, WrittenRecord } from './records-text.ts'
import { nextRecord, type Revisions } from './revisions.ts'

/** Between slices boots are answered. */
const recordsPerSlice = 200
const shownProblems = 20
/** Of what the text is called, in messages and in the audit list. */
const longestName = 200

export interface ImportOptions extends Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock'> {
  readonly loaded: () => LoadedConfig
  readonly revisions: Revisions
  readonly onRecords: () => void
}

/** Takes in many records at once: all of them or none. */
export function createImportRecords(options: ImportOptions): FleetOperations['importRecords'] {
  const { queue } = options
  let reading: Promise<unknown> = Promise.resolve()

  /** One after the other, since a large text takes a gigabyte of memory while it is read. */
  function read(text: string, name: string): Promise<RecordsText> {
    const next = reading.then(() => readRecords(text, name))
    reading = next.catch(() => {})
    return next
  }

  return async (body, change) => {
    const name = visibleText(body.name, longestName)
    const text = await read(body.text, name)
    if (text.problems.length > 0 && text.records.length === 0) throw refused(text.problems)
    return queue.change(() => planImport(text, { ...body, name }, change, options))
  }
}

async function planImport(
  text: RecordsText,
  { name, mode, reason }: ImportRecords,
  change: ChangeOptions,
  { memory, view, clock, loaded, revisions, onRecords }: ImportOptions,
): Promise<FleetPlan<ImportRecordsReport>> {
  const now = clock.now()
  const by = change.actor.by
  const dryRun = change.dryRun === true
  const removed = mode === 'replace' ? notIn(text, memory) : []
  const inventory = withoutProfiles(view().inventory, removed)
  const context = recordContext({ loaded: loaded(), inventory, by, now, others: profilesIn(text) })
  const problems = [...text.problems]
  const hosts = await checkedHosts(text.records, context, view().inventory, removed, (record, problem) =>
    problems.push(`${name}:${record.line}: ${record.kind} ${record.name}: ${problem}`),
  )
  if (problems.length > 0) throw refused(byLine(problems, name))
  refuseUsed(text.records, removed, view().inventory)
  const revision = revisions.next()
  const put: FleetChange[] = []
  let added = 0
  for (const { kind, name: key, spec: written } of text.records) {
    const before = memory.records[kind].get(key)
    const spec = keptSpec(written)
    if (before !== undefined && isDeepStrictEqual(before.spec, spec)) continue
    if (before === undefined) added += 1
    put.push({ put: 'record', record: nextRecord(kind, key, spec, { before, by, at: now, revision }) })
  }
  const report: ImportRecordsReport = {
    dryRun,
    added,
    changed: put.length - added,
    unchanged: text.records.length - put.length,
    removed: removed.length,
  }
  const changes = [
    ...put,
    ...removed.map(({ kind, name: key }): FleetChange => ({ remove: 'record', kind, name: key })),
    ...consequences(hosts, removed, memory, view().inventory, { by, at: now }),
  ]
  return {
    // Tried out, nothing is put in force even for a moment: a hundred thousand records take longer than that.
    changes: dryRun ? [] : changes,
    audit: [
      auditEntry(change, now, {
        action: 'records.import',
        target: 'records',
        summary: `${name}: ${added} new, ${report.changed} changed, ${report.unchanged} as they were, ${removed.length} removed`,
        reason,
      }),
    ],
    answer: () => report,
    after: onRecords,
  }
}

/** Records of kinds that the text speaks of, and that are not in it. */
function notIn({ records, broken, kinds }: RecordsText, memory: FleetMemory): readonly StoredRecord[] {
  const named = new Set([...records, ...broken].map(({ kind, name }) => `${kind}/${name}`))
  return kinds.flatMap((kind) =>
    [...memory.records[kind].values()].filter(({ name }) => !named.has(`${kind}/${name}`)),
  )
}

function profilesIn({ records, broken }: RecordsText): ReadonlyMap<string, string | undefined> {
  const isProfile = ({ kind }: Pick<WrittenRecord, 'kind'>) => kind === 'profile'
  return new Map([
    ...broken.filter(isProfile).map(({ name }) => [name, undefined] as const),
    ...records
      .filter(isProfile)
      .map(({ name, spec }) => [name, typeof spec.stream === 'string' ? spec.stream : undefined] as const),
  ])
}

function withoutProfiles(inventory: Inventory, removed: readonly StoredRecord[]): Inventory {
  const gone = new Set(removed.filter(({ kind }) => kind === 'profile').map(({ name }) => name))
  if (gone.size === 0) return inventory
  return { ...inventory, profiles: new Map([...inventory.profiles].filter(([name]) => !gone.has(name))) }
}

async function checkedHosts(
  records: readonly WrittenRecord[],
  context: RecordContext,
  inventory: Inventory,
  removed: readonly StoredRecord[],
  report: (record: WrittenRecord, problem: string) => void,
): Promise<readonly Host[]> {
  const replaced = replacedHosts(records, removed, inventory)
  const claims = createMarkClaims()
  const names = new Set<string>()
  const hosts: Host[] = []
  for (const [index, record] of records.entries()) {
    const { kind, name, spec } = record
    // A config in the record is filled in once, which takes as long as a hundred records.
    if (hasConfig(spec) || index % recordsPerSlice === recordsPerSlice - 1) await nextTurn()
    const key = `${kind}/${name}`
    if (names.has(key)) report(record, 'is there twice')
    names.add(key)
    const origin = originOf(kind, name, inventory)
    if (origin !== undefined && isOfFile(origin)) {
      report(record, `is declared in ${placeText(origin)}, and changed there alone`)
      continue
    }
    const parsed = parseRecord(kind, name, spec, context)
    if ('problems' in parsed) {
      for (const problem of parsed.problems) report(record, recordProblemText(problem))
      continue
    }
    if (kind !== 'host') continue
    const host = parsed.record as Host
    for (const taken of takenMarks(host, inventory, (id) => replaced.has(id))) {
      report(record, takenText(taken))
    }
    for (const { mark, other } of claims.claim(host))
      report(record, `${mark} belongs to host ${other} as well`)
    hosts.push(host)
  }
  return hosts
}

/** Hosts whose records go, or come anew. */
function replacedHosts(
  records: readonly WrittenRecord[],
  removed: readonly StoredRecord[],
  { hostsById }: Inventory,
): ReadonlySet<string> {
  return new Set(
    [...records, ...removed]
      .filter(({ kind, name }) => kind === 'host' && !isDeclared(hostsById.get(name)))
      .map(({ name }) => name),
  )
}

/** What is wrong in one record and what does not fit the others, as it stands in the text. */
function byLine(problems: readonly string[], name: string): readonly string[] {
  const lineOf = (problem: string) => Number.parseInt(problem.slice(name.length + 1), 10)
  return problems.toSorted((a, b) => lineOf(a) - lineOf(b))
}

function hasConfig({ ignition }: WrittenRecord['spec']): boolean {
  return typeof ignition === 'object' && ignition !== null && 'inline' in ignition
}

const isDeclared = (host: Host | undefined): boolean => host !== undefined && isOfFile(host.origin)

function originOf(kind: RecordKind, name: string, inventory: Inventory): Origin | undefined {
  if (kind === 'host') return inventory.hostsById.get(name)?.origin
  if (kind === 'profile') return inventory.profiles.get(name)?.origin
  return inventory.groups.find((group) => group.name === name)?.origin
}

/** A profile that goes must not be anybody's who stays as he is: such machines would be held. */
function refuseUsed(
  records: readonly WrittenRecord[],
  removed: readonly StoredRecord[],
  inventory: Inventory,
): void {
  const { hostsById, groups, unknown } = inventory
  const gone = new Set(removed.filter(({ kind }) => kind === 'profile').map(({ name }) => name))
  if (gone.size === 0) return
  const replaced = replacedHosts(records, removed, inventory)
  const goneGroups = new Set(removed.filter(({ kind }) => kind === 'group').map(({ name }) => name))
  const users = [
    ...(unknown.kind === 'profile' && gone.has(unknown.profile)
      ? [`unknown machines: ${unknown.profile}`]
      : []),
    ...groups
      .filter(({ name, profile = '' }) => gone.has(profile) && !goneGroups.has(name))
      .map(({ name, profile }) => `group ${name}: ${profile}`),
    ...[...hostsById.values()]
      .filter(({ id, profile = '' }) => gone.has(profile) && !replaced.has(id))
      .map(({ id, profile }) => `host ${id}: ${profile}`),
  ]
  if (users.length === 0) return
  throw refused(users.map((user) => `would be left without its profile - ${user}`))
}

/** What goes with hosts that change or go: their settings learn the newest MACs, their installs end. */
function consequences(
  hosts: readonly Host[],
  removed: readonly StoredRecord[],
  memory: FleetMemory,
  inventory: Inventory,
  who: { readonly by: string; readonly at: number },
): readonly FleetChange[] {
  const { hostsById } = inventory
  const gone = removed.filter(({ kind }) => kind === 'host').map(({ name }) => name)
  const set = new Set([...memory.settings.values()].map(({ target }) => target.name))
  const last = gone.map((id) => hostsById.get(id)).filter((host) => host !== undefined)
  return [
    ...[...hosts, ...last].filter(({ id }) => set.has(id)).flatMap((host) => settingsWithMacs(host, memory)),
    ...hosts.flatMap((host) => installWithMarks(host, memory)),
    ...gone.flatMap((id) => withoutInstall(id, memory, inventory, who)),
  ]
}

function refused(problems: readonly string[]): ServiceError {
  const shown = problems.slice(0, shownProblems)
  const more = problems.length - shown.length
  return new ServiceError('USAGE', [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'), {
    field: 'text',
    hint: 'nothing was taken in',
  })
}
