import { type Arch, architectures } from '../core/arch.ts'
import { effectiveSettings } from '../core/effective-settings.ts'
import type { Host, Inventory, Pin } from '../core/host.ts'

/** A release that some host must be able to boot. */
export interface WantedPin {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
}

/**
 * Every pin in force, with the architectures it must be there for: the host's own where its record says it, else all
 * that the stream follows. Profiles count too, since unknown machines may get them, and what was said of a host that has
 * gone. Pure; as long as no group and no profile pins, only hosts that are pinned themselves are looked at.
 */
export function wantedPins(
  inventory: Inventory,
  architecturesOf: (stream: string) => readonly Arch[] | undefined,
  now: number,
): readonly WantedPin[] {
  const wanted = new Map<string, WantedPin>()
  const { unknown, runTime } = inventory
  // Most often no pin is for one architecture alone, and the answer is the same for each.
  const asked = pinsOf(inventory).some(({ arch }) => arch !== undefined) ? architectures : [undefined]
  const unknownProfile = unknown.kind === 'profile' ? { unknownProfile: unknown.profile } : {}

  function add(who: Pick<Parameters<typeof effectiveSettings>[0], 'host' | 'macs'>): void {
    const own = who.host?.arch
    for (const arch of own === undefined ? asked : [own]) {
      const settings = effectiveSettings({
        inventory,
        ...unknownProfile,
        ...who,
        arch,
        firmware: 'unknown',
        now,
      })
      const stream = settings.stream?.value
      const release = settings.pin?.value.release
      if (stream === undefined || release === undefined) continue
      const followed = architecturesOf(stream) ?? []
      // The record may name an architecture that the stream followed once: what it was pinned to is still here.
      const its = own === undefined ? followed.filter((one) => arch === undefined || arch === one) : [own]
      for (const one of its) wanted.set(`${stream}/${one}/${release}`, { stream, arch: one, release })
    }
  }

  for (const host of hostsThatMayBePinned(inventory)) add({ host })
  for (const mac of runTime.byMac.keys()) if (!inventory.hostsByMac.has(mac)) add({ macs: [mac] })
  if (unknown.kind === 'profile') add({})
  return [...wanted.values()]
}

/** All pins, wherever they are said. */
function pinsOf({ hostsById, pinnedHosts, groups, profiles, runTime }: Inventory): readonly Pin[] {
  const { byHost, byGroup, byMac } = runTime
  const hosts = [...pinnedHosts].map((id) => hostsById.get(id))
  const atRunTime = [byHost, byGroup, byMac].flatMap((index) => [...index.values()].flat())
  const records = [...hosts, ...groups, ...profiles.values(), ...atRunTime.map(({ settings }) => settings)]
  return records.flatMap((record) => record?.pins ?? [])
}

/**
 * Whether a pin that was resolved is one of a host that has gone. Nobody may boot it now, not even its MACs; its host may
 * come back, and upstream may not have it any more by then (G5).
 */
export function isPinOfGone({ runTime }: Inventory): (pin: WantedPin) => boolean {
  const pins = [...runTime.byMac.values()].flatMap((layers) =>
    layers.flatMap(({ settings }) => settings.pins ?? []),
  )
  return ({ stream, arch, release }) =>
    pins.some(
      (pin) => pin.release === release && (pin.stream ?? stream) === stream && (pin.arch ?? arch) === arch,
    )
}

/** Racks of machines are alike: of those without a pin of their own, one stands for all that the same places speak of. */
function hostsThatMayBePinned(inventory: Inventory): Iterable<Host> {
  const { hostsById, hostsByMac, pinnedHosts, runTime, groups, profiles } = inventory
  const themselves = new Map<string, Host>()
  const take = (host: Host | undefined) => host && themselves.set(host.id, host)
  for (const id of pinnedHosts) take(hostsById.get(id))
  for (const id of runTime.byHost.keys()) take(hostsById.get(id))
  for (const mac of runTime.byMac.keys()) take(hostsByMac.get(mac))
  const doOthersPin = runTime.byGroup.size > 0 || [...groups, ...profiles.values()].some(({ pins }) => pins)
  if (!doOthersPin) return themselves.values()
  const alike = new Map<string, Host>()
  for (const host of hostsById.values()) {
    if (themselves.has(host.id)) continue
    const { profile = '', stream = '', arch = '', labels } = host
    const key = [profile, stream, arch, ...Object.entries(labels).flat()].join('\0')
    if (!alike.has(key)) alike.set(key, host)
  }
  return [...themselves.values(), ...alike.values()]
}
