import { heldRecord } from '../../config/held-record.ts'
import { readRecord } from '../../config/parse-record.ts'
import type { FleetChange, FleetState, RecordKind, StoredRecord } from '../../core/fleet.ts'
import { createFleetIndex, type FleetConflict } from '../../core/fleet-index.ts'
import type { Inventory } from '../../core/host.ts'

/**
 * What files and admins say of machines now, in memory: the one thing that boots are decided with. Whatever was applied
 * counts for the next packet.
 */
export interface FleetView {
  /** For this turn; whoever waits asks for it anew. */
  inventory(): Inventory
  /** What the files of a configuration say, in place of what they said before. */
  takeFiles(files: Pick<Inventory, 'hostsById' | 'groups' | 'profiles' | 'unknown'>): void
  /** Told after files were taken; one listener. */
  onFiles(listener: () => void): void
  /** What the store has, in place of all that was applied before. */
  load(state: Pick<FleetState, 'records' | 'settings' | 'installs' | 'revocations'>): void
  apply(changes: readonly FleetChange[]): void
  /** Records of the API that do not count, or not with all that they say. */
  conflicts(): readonly FleetConflict[]
  /** Those of one host, in words that go on after its id. */
  conflictsOf(host: string): readonly string[]
  /** Boot tokens of this host that are older do not count (ms since the epoch). */
  revokedBefore(host: string): number | undefined
}

export function createFleetView(): FleetView {
  let index = createFleetIndex()
  let files: Parameters<FleetView['takeFiles']>[0] | undefined
  const revocations = new Map<string, number>()
  const unreadable = new Map<string, FleetConflict>()
  let tellFiles = () => {}
  let byHost: { readonly of: Inventory; readonly texts: ReadonlyMap<string, readonly string[]> } | undefined

  function takeFiles(said: Parameters<FleetView['takeFiles']>[0]): void {
    files = said
    const { hostsById, groups, profiles, unknown } = said
    index.takeFiles({ hosts: [...hostsById.values()], groups, profiles: [...profiles.values()], unknown })
  }

  function putRecord({ kind, name, spec, changedBy, changedAt }: StoredRecord): void {
    const read = readRecord(kind, name, spec, { by: changedBy, at: changedAt })
    removeRecord(kind, name)
    if ('record' in read) {
      index.putRecord(kind, name, read.record)
      return
    }
    const problems = read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
    const text = `cannot be read by this version, so what it says does not count and its machines are held: ${problems}`
    const why = `the record of ${kind} ${name} cannot be read by this version: ${problems}`
    const held = heldRecord(kind, name, spec, { by: changedBy, at: changedAt, why })
    if (held?.kind === 'host') index.putRecord('host', name, held.record)
    if (held?.kind === 'group') index.putRecord('group', name, held.record)
    unreadable.set(`${kind}/${name}`, { kind, name, text })
  }

  function removeRecord(kind: RecordKind, name: string): void {
    unreadable.delete(`${kind}/${name}`)
    index.removeRecord(kind, name)
  }

  function put(change: Extract<FleetChange, { readonly put: string }>): void {
    switch (change.put) {
      case 'record':
        putRecord(change.record)
        return
      case 'setting':
        index.putSetting(change.setting)
        return
      case 'install':
        index.putInstall(change.install)
        return
      case 'revocation':
        revocations.set(change.revocation.host, change.revocation.before)
        return
      case 'token':
      case 'report':
        return
    }
  }

  function remove(change: Extract<FleetChange, { readonly remove: string }>): void {
    switch (change.remove) {
      case 'record':
        removeRecord(change.kind, change.name)
        return
      case 'setting':
        index.removeSetting(change.id)
        return
      case 'install':
        index.removeInstall(change.host)
        return
      case 'token':
        return
    }
  }

  const conflicts = () => [...unreadable.values(), ...index.conflicts()]

  return {
    inventory: () => index.inventory(),
    takeFiles(said) {
      takeFiles(said)
      tellFiles()
    },
    onFiles(listener) {
      tellFiles = listener
    },
    load({ records, settings, installs, revocations: revoked }) {
      index = createFleetIndex()
      unreadable.clear()
      revocations.clear()
      for (const record of records) putRecord(record)
      for (const setting of settings) index.putSetting(setting)
      for (const install of installs) index.putInstall(install)
      for (const { host, before } of revoked) revocations.set(host, before)
      if (files !== undefined) takeFiles(files)
    },
    apply(changes) {
      for (const change of changes) 'put' in change ? put(change) : remove(change)
    },
    conflicts,
    conflictsOf(host) {
      const of = index.inventory()
      // A list of all hosts asks for each of them.
      if (byHost?.of !== of) byHost = { of, texts: textsByHost(conflicts()) }
      return byHost.texts.get(host) ?? []
    },
    revokedBefore: (host) => revocations.get(host),
  }
}

function textsByHost(conflicts: readonly FleetConflict[]): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, readonly string[]>()
  for (const { kind, name, text } of conflicts) {
    if (kind === 'host') texts.set(name, [...(texts.get(name) ?? []), text])
  }
  return texts
}
