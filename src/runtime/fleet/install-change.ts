import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FleetChange, InstallRecord } from '../../core/fleet.ts'
import type { Inventory } from '../../core/host.ts'
import { withMarks } from '../../core/install-of-machine.ts'
import { machineMarks } from '../../core/machine-marks.ts'

/** An install as it is written: with what its machine is recognised by now. */
export function installChange(
  record: InstallRecord,
  { hostsById }: Pick<Inventory, 'hostsById'>,
): Extract<FleetChange, { readonly put: 'install' }> {
  const host = hostsById.get(record.host)
  return { put: 'install', install: host === undefined ? record : withMarks(record, machineMarks(host)) }
}

/** Installs whose machines are recognised by something else than when they were written. */
export function newMarks(
  installs: Iterable<InstallRecord>,
  inventory: Pick<Inventory, 'hostsById'>,
): readonly FleetChange[] {
  const changes: FleetChange[] = []
  for (const record of installs) {
    const change = installChange(record, inventory)
    if (change.install !== record) changes.push(change)
  }
  return changes
}

/** Some 5 ms. */
const installsPerSlice = 1_000

/** The same of all, in slices between which boots are answered. */
export async function allNewMarks(
  installs: ReadonlyMap<string, InstallRecord>,
  inventory: () => Inventory,
): Promise<readonly FleetChange[]> {
  const changes: FleetChange[] = []
  const hosts = [...installs.keys()]
  for (let first = 0; first < hosts.length; first += installsPerSlice) {
    if (first > 0) await nextTurn()
    const slice = hosts.slice(first, first + installsPerSlice).flatMap((host) => installs.get(host) ?? [])
    changes.push(...newMarks(slice, inventory()))
  }
  return changes
}
