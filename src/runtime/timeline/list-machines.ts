import type { BootAttempt } from '../../core/boot-attempt.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { Host, Inventory } from '../../core/host.ts'
import { parseMac } from '../../core/mac.ts'
import { originText } from '../../core/origin-text.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import { type MachineQuery, type MachineRow, machineStates } from '../../http/admin/schemas/boots.ts'
import { usualLimit } from '../fleet/page-of.ts'
import { isoIfAny } from '../fleet/times.ts'
import { diagnosisSummary, transferSummary } from './boot-summary.ts'
import type { Machine, MachineSnapshot } from './machine-snapshot.ts'

/** One row for each machine: where it is and what it follows. */
export function createListMachines(options: {
  readonly snapshots: { current(): Promise<MachineSnapshot> }
  readonly attempt: (id: string) => BootAttempt | undefined
  readonly inventory: () => Inventory
  /** When it was seen without booting, ms since the epoch. */
  readonly lastSeenAt: (host: Host) => number | undefined
  readonly flagsOf: (host: string) => readonly string[]
  readonly now: () => number
}): BootOperations['listMachines'] {
  const { snapshots, attempt: find, inventory } = options

  function rowOf({ key, state, seenAt, facts, mac, sight }: Machine): MachineRow {
    const boot = sight && find(sight.attempt)
    const host = facts?.host
    const lastSeenAt = Math.max(seenAt, (host && options.lastSeenAt(host)) ?? 0)
    return {
      key,
      mac: mac ?? sight?.mac ?? host?.macs[0],
      state,
      step: boot?.steps.at(-1)?.text,
      phase: boot?.phase,
      transfer: boot?.transfer && transferSummary(boot.transfer),
      release: sight?.release,
      attempt: sight?.attempt,
      lastSeenAt: isoIfAny(lastSeenAt === 0 ? undefined : lastSeenAt),
      diagnosis: boot?.diagnosis && diagnosisSummary(boot.diagnosis),
      ...(host === undefined ? { groups: [], flags: [] } : ofHost(host, boot)),
    }
  }

  /** What is said of it, as it is now: facts are by what it was found, which may be a moment ago. */
  function ofHost(host: Host, boot: BootAttempt | undefined) {
    const { groups, profile, stream, mode, pin } = effectiveSettings({
      inventory: inventory(),
      host,
      arch: host.arch ?? boot?.arch ?? 'x86_64',
      firmware: boot?.firmware ?? 'unknown',
      now: options.now(),
    })
    return {
      host: host.id,
      groups: groups.map(({ name }) => name),
      profile: profile?.value,
      stream: stream?.value,
      mode: mode?.value,
      pin: pin && { release: pin.value.release, origin: originText(pin.origin) },
      flags: [...options.flagsOf(host.id)],
    }
  }

  return async (query) => {
    const snapshot = await snapshots.current()
    const { byState, needs, releases, groups, streams } = snapshot
    const { limit = usualLimit, page = 1, keys } = query
    const found = matching(snapshot, query)
    const shown =
      keys === undefined ? found.slice((page - 1) * limit, page * limit) : ofKeys(found, new Set(keys))
    return {
      items: shown.map(rowOf),
      total: found.length,
      counts: Object.fromEntries(machineStates.map((state) => [state, byState[state].length])),
      needs,
      releases: [...releases],
      groups: [...groups],
      streams: [...streams],
    }
  }
}

function ofKeys(machines: readonly Machine[], keys: ReadonlySet<string>): readonly Machine[] {
  return machines.filter(({ key }) => keys.has(key))
}

function matching(snapshot: MachineSnapshot, query: MachineQuery): readonly Machine[] {
  const { state, sort = 'state' } = query
  const fits = filterOf(query)
  const ordered =
    state !== undefined ? snapshot.byState[state] : sort === 'state' ? snapshot.byNeed : snapshot.machines
  const found = fits === undefined ? ordered : ordered.filter(fits)
  return sort === 'seen' ? found.toSorted((a, b) => b.seenAt - a.seenAt) : found
}

/** `undefined`: all fit. */
function filterOf({
  search,
  stream,
  release,
  group,
}: MachineQuery): ((machine: Machine) => boolean) | undefined {
  const tests: ((machine: Machine) => boolean)[] = []
  if (stream !== undefined) tests.push(({ facts }) => facts?.stream === stream)
  if (group !== undefined) tests.push(({ facts }) => facts?.groups.includes(group) === true)
  if (release !== undefined) tests.push(({ sight }) => sight?.release === release)
  const text = search?.trim().toLowerCase() ?? ''
  if (text !== '') {
    const wanted = parseMac(text) ?? text
    tests.push(({ facts, key }) => (facts?.text ?? key).includes(wanted))
  }
  return tests.length === 0 ? undefined : (machine) => tests.every((test) => test(machine))
}
