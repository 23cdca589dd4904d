import { createEndTimes, type EndTimes } from './end-times.ts'
import { type InstallRecord, type RecordKind, type RunTimeSetting, runTimeSettingId } from './fleet.ts'
import type { Group, Host, Inventory, InventoryParts, Origin, Profile } from './host.ts'
import { createHostIndex, type HostIndex } from './host-index.ts'
import { createInstallIndex } from './install-index.ts'
import { groupsInOrder } from './inventory.ts'
import { originText } from './origin-text.ts'
import { createRunTimeSettings } from './run-time-index.ts'

/** A record that was made at run time and does not count, or not with all that it says. */
export interface FleetConflict {
  readonly kind: RecordKind
  readonly name: string
  /** Why, in words that go on after its name. */
  readonly text: string
}

/** The record of a kind. */
export interface RecordOf {
  readonly host: Host
  readonly group: Group
  readonly profile: Profile
}

/**
 * What files say and what was said at run time, together, for the boot path. A change costs as much as it changes, not
 * as there are hosts; groups alone are put in order anew.
 */
export interface FleetIndex {
  /** Another object after each change, and the same one as long as nothing changed. */
  inventory(): Inventory
  takeFiles(parts: InventoryParts): void
  putRecord<Kind extends RecordKind>(kind: Kind, name: string, record: RecordOf[Kind]): void
  removeRecord(kind: RecordKind, name: string): void
  putSetting(setting: RunTimeSetting): void
  removeSetting(id: string): void
  putInstall(install: InstallRecord): void
  removeInstall(host: string): void
  conflicts(): readonly FleetConflict[]
}

type Made = { readonly [Kind in RecordKind]: Map<string, RecordOf[Kind]> }

const noFiles: InventoryParts = { hosts: [], groups: [], profiles: [], unknown: { kind: 'ignore' } }

/** What a file says stands before a record of the same name that was made at run time. */
export function createFleetIndex(): FleetIndex {
  const made: Made = { host: new Map(), group: new Map(), profile: new Map() }
  const installs = createInstallIndex()
  let files = noFiles
  let ends: EndTimes = createEndTimes()
  let hosts: HostIndex = createHostIndex(ends)
  let groups: Pick<Inventory, 'groups' | 'groupIndex'> = groupsInOrder([])
  let profiles = new Map<string, Profile>()
  const settings = createRunTimeSettings((host) => hosts.maps.hostsById.has(host))
  let current: Inventory | undefined
  let areGroupsNew = false

  function isOfFile(name: string): boolean {
    return hosts.maps.hostsById.get(name)?.origin.file !== undefined
  }

  function addEnds({ pins = [] }: Pick<Host, 'pins'>): void {
    for (const { until } of pins) ends.add(until)
  }

  function removeEnds({ pins = [] }: Pick<Host, 'pins'> = {}): void {
    for (const { until } of pins) ends.remove(until)
  }

  function putHost(name: string, host: Host): void {
    dropHost(name)
    made.host.set(name, host)
    hosts.add(host)
    settings.hostCame(name)
  }

  function dropHost(name: string): void {
    const before = made.host.get(name)
    made.host.delete(name)
    if (before === undefined || isOfFile(name)) return
    hosts.remove(before)
    settings.hostWent(name)
  }

  /** Groups and profiles of files and of the API, each name once. */
  function together<Some extends Group | Profile>(
    ofFiles: readonly Some[],
    others: ReadonlyMap<string, Some>,
  ): Map<string, Some> {
    return new Map([...others, ...ofFiles.map((record) => [record.name, record] as const)])
  }

  function arrange(): Inventory {
    if (areGroupsNew) {
      groups = groupsInOrder(together(files.groups, made.group).values())
      profiles = together(files.profiles, made.profile)
      areGroupsNew = false
    }
    return {
      ...hosts.maps,
      ...groups,
      profiles,
      unknown: files.unknown,
      runTime: { ...settings.index },
      installs: installs.byHost,
      installsByMark: installs.byMark,
      nextEnd: ends.nextAfter,
    }
  }

  function shadowed<Some extends Group | Profile>(
    kind: RecordKind,
    ofFiles: readonly Some[],
    others: ReadonlyMap<string, Some>,
  ): readonly FleetConflict[] {
    return ofFiles
      .filter(({ name }) => others.has(name))
      .map(({ name, origin }) => conflict(kind, name, origin))
  }

  return {
    inventory() {
      current ??= arrange()
      return current
    },
    takeFiles(parts) {
      files = parts
      ends = createEndTimes()
      hosts = createHostIndex(ends)
      for (const host of files.hosts) hosts.add(host)
      for (const host of made.host.values()) hosts.add(host)
      for (const record of [...files.groups, ...files.profiles]) addEnds(record)
      for (const record of [...made.group.values(), ...made.profile.values()]) addEnds(record)
      for (const { until } of settings.all()) ends.add(until)
      for (const { until } of installs.byHost.values()) ends.add(until)
      settings.hostsChanged()
      areGroupsNew = true
      current = undefined
    },
    putRecord(kind, name, record) {
      current = undefined
      if (kind === 'host') {
        putHost(name, record as Host)
        return
      }
      removeEnds(made[kind].get(name))
      made[kind as 'group'].set(name, record as Group)
      addEnds(record)
      areGroupsNew = true
    },
    removeRecord(kind, name) {
      current = undefined
      if (kind === 'host') {
        dropHost(name)
        return
      }
      removeEnds(made[kind].get(name))
      made[kind].delete(name)
      areGroupsNew = true
    },
    putSetting(setting) {
      ends.remove(settings.remove(runTimeSettingId(setting))?.until)
      settings.put(setting)
      ends.add(setting.until)
      current = undefined
    },
    removeSetting(id) {
      ends.remove(settings.remove(id)?.until)
      current = undefined
    },
    putInstall(install) {
      ends.remove(installs.byHost.get(install.host)?.until)
      installs.put(install)
      ends.add(install.until)
      current = undefined
    },
    removeInstall(host) {
      ends.remove(installs.byHost.get(host)?.until)
      installs.remove(host)
      current = undefined
    },
    conflicts: () => [
      ...[...made.host.keys()]
        .filter(isOfFile)
        .map((name) => conflict('host', name, hosts.maps.hostsById.get(name)?.origin)),
      ...hosts.contested().map(({ mark, keptBy, lostBy }) => ({
        kind: 'host' as const,
        name: lostBy.id,
        text: `does not have ${mark}: it belongs to ${originText(keptBy.origin)}`,
      })),
      ...shadowed('group', files.groups, made.group),
      ...shadowed('profile', files.profiles, made.profile),
    ],
  }
}

function conflict(kind: RecordKind, name: string, origin: Origin | undefined): FleetConflict {
  const where = origin?.file === undefined ? 'a file' : `${origin.file}:${origin.line ?? 1}`
  return { kind, name, text: `is declared in ${where} as well, and what the file says counts` }
}
