import type { Arch } from '../core/arch.ts'
import { effectiveSettings } from '../core/effective-settings.ts'
import type { Inventory } from '../core/host.ts'

/** A release that some host must be able to boot. */
export interface WantedPin {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
}

/**
 * Every pin in force, with the architectures it must be there for: the host's own where its record says it, else all
 * that the stream follows. Profiles count too, since unknown machines may get them. Pure.
 */
export function wantedPins(
  inventory: Inventory,
  architecturesOf: (stream: string) => readonly Arch[] | undefined,
  now: number,
): readonly WantedPin[] {
  const wanted = new Map<string, WantedPin>()

  function add(stream: string | undefined, release: string | undefined, own: Arch | undefined): void {
    if (stream === undefined || release === undefined) return
    const arches = own === undefined ? (architecturesOf(stream) ?? []) : [own]
    for (const arch of arches) wanted.set(`${stream}/${arch}/${release}`, { stream, arch, release })
  }

  for (const host of inventory.hostsById.values()) {
    const { stream, pin } = effectiveSettings({ inventory, host, firmware: 'unknown', now })
    add(stream?.value, pin?.value.release, host.arch)
  }
  if (inventory.unknown.kind === 'profile') {
    const settings = effectiveSettings({
      inventory,
      unknownProfile: inventory.unknown.profile,
      firmware: 'unknown',
      now,
    })
    add(settings.stream?.value, settings.pin?.value.release, undefined)
  }
  return [...wanted.values()]
}
