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
