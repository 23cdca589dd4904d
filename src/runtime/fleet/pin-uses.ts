import type { Arch } from '../../core/arch.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { RunTimeSetting } from '../../core/fleet.ts'
import type { Host, Inventory, Pin } from '../../core/host.ts'
import { nothingSetAtRunTime, runTimeLayer } from '../../core/run-time-settings.ts'

export type PinSetting = Extract<RunTimeSetting, { readonly kind: 'pin' }>

/** A stream and architecture for which a pinned release must be there. */
export interface PinUse {
  readonly stream: string
  readonly arch: Arch
  /** Some machine is known to have this architecture; else it may have another one. */
  readonly isCertain: boolean
}

export type ArchitecturesOf = (stream: string) => readonly Arch[]

/**
 * What a pin would be used for by these hosts if nothing else were set at run time. The stream is the one that each of
 * them follows, unless the pin names one.
 */
export function usesIfSet(
  setting: PinSetting,
  hosts: Iterable<Host>,
  inventory: Inventory,
  architecturesOf: ArchitecturesOf,
): readonly PinUse[] {
  const layer = runTimeLayer(setting)
  const { kind, name } = setting.target
  const layers = new Map([[name, [layer]]])
  const asIf: Inventory = {
    ...inventory,
    runTime: { ...nothingSetAtRunTime, [kind === 'host' ? 'byHost' : 'byGroup']: layers },
  }
  const [pin] = layer.settings.pins ?? []
  return usesOf(pin, hosts, asIf, architecturesOf, setting.at)
}

/** What a pin of a record or a setting is used for now by these hosts: where it is in force. */
export function usesOf(
  pin: Pin | undefined,
  hosts: Iterable<Host>,
  inventory: Inventory,
  architecturesOf: ArchitecturesOf,
  now: number,
): readonly PinUse[] {
  const uses = new Map<string, PinUse>()
  for (const host of oneOfEach(hosts, inventory)) {
    for (const arch of archesOf(host, pin, inventory, architecturesOf, now)) {
      const settings = effectiveSettings({ inventory, host, arch, firmware: 'unknown', now })
      const stream = settings.stream?.value
      if (stream === undefined || settings.pin?.value !== pin) continue
      const key = `${stream}/${arch}`
      const isCertain = host.arch !== undefined || uses.get(key)?.isCertain === true
      uses.set(key, { stream, arch, isCertain })
    }
  }
  return [...uses.values()]
}

/** Its own, else the pin's, else all that its stream follows. */
function archesOf(
  host: Host,
  pin: Pin | undefined,
  inventory: Inventory,
  architecturesOf: ArchitecturesOf,
  now: number,
): readonly Arch[] {
  if (host.arch !== undefined) return [host.arch]
  if (pin?.arch !== undefined) return [pin.arch]
  const { stream } = effectiveSettings({ inventory, host, firmware: 'unknown', now })
  return stream === undefined ? [] : architecturesOf(stream.value)
}

/** For how many of these hosts a pin is in force now. */
export function countInForce(
  pin: Pin,
  hosts: Iterable<Host>,
  inventory: Inventory,
  architecturesOf: ArchitecturesOf,
  now: number,
): number {
  const counts = new Map<string, { readonly host: Host; count: number }>()
  for (const host of hosts) {
    const key = likenessOf(host, inventory)
    const alike = counts.get(key)
    if (alike === undefined) counts.set(key, { host, count: 1 })
    else alike.count += 1
  }
  let inForce = 0
  for (const { host, count } of counts.values()) {
    if (usesOf(pin, [host], inventory, architecturesOf, now).length > 0) inForce += count
  }
  return inForce
}

/** One stands for all that the same places speak of. */
function oneOfEach(hosts: Iterable<Host>, inventory: Inventory): Iterable<Host> {
  const alike = new Map<string, Host>()
  for (const host of hosts) {
    const key = likenessOf(host, inventory)
    if (!alike.has(key)) alike.set(key, host)
  }
  return alike.values()
}

/** Racks of machines are alike; who is pinned himself is like nobody else. */
function likenessOf(host: Host, { runTime }: Inventory): string {
  const { id, profile = '', stream = '', arch = '', labels, pins } = host
  if (pins !== undefined || runTime.byHost.has(id)) return `\0${id}`
  return [profile, stream, arch, ...Object.entries(labels).flat()].join('\0')
}
