import { architectures } from '../../core/arch.ts'
import { runTimeSettingId } from '../../core/fleet.ts'
import type { Host, Origin, Pin } from '../../core/host.ts'
import { originText } from '../../core/origin-text.ts'
import type { PinQuery, PinSummary, Target } from '../../http/admin/schemas/fleet.ts'
import type { FleetContext } from './fleet-context.ts'
import { type FactsOfHosts, factsOfHost, type HostFacts, type HostList } from './host-list.ts'
import { compareText } from './page-of.ts'
import type { PinFiles } from './pin-files.ts'
import {
  type ArchitecturesOf,
  countInForce,
  type PinSetting,
  type PinUse,
  usesIfSet,
  usesOf,
} from './pin-uses.ts'
import { iso, isoIfAny } from './times.ts'

/** A pin, wherever it was said. */
export interface ListedPin {
  readonly target: PinSummary['target']
  readonly pin: Pin
  readonly origin: Origin
  /** Of one that was set at run time. */
  readonly setting?: PinSetting
}

export interface PinList {
  /** All of them by target and architecture. */
  all(): readonly ListedPin[]
  matching(query: PinQuery): Promise<readonly ListedPin[]>
  ofHost(id: string): readonly ListedPin[]
  ofSetting(setting: PinSetting): ListedPin
  /** @param factsAre of a moment before this pin: whom it is in force for is found anew then */
  show(listed: ListedPin, facts: FactsOfHosts, factsAre?: 'before it'): PinSummary
  facts(): Promise<FactsOfHosts>
}

export const pinKey = ({ target, pin, setting }: ListedPin): string =>
  `${target.kind}/${target.name}/${pin.arch ?? '*'}/${setting === undefined ? 'record' : 'run-time'}`

/** The pins of files, of records and of admins at run time, each with what it is good for. */
export function createPinList(
  context: Pick<FleetContext, 'memory' | 'view' | 'clock'> & {
    readonly hosts: HostList
    readonly files: PinFiles
    readonly architecturesOf: ArchitecturesOf
  },
): PinList {
  const { memory, view, clock, hosts, files, architecturesOf } = context

  function ofRecord(kind: PinSummary['target']['kind'], name: string, record: Pick<Host, 'pins' | 'origin'>) {
    const { pins = [], origin } = record
    return pins.map((pin): ListedPin => ({ target: { kind, name }, pin, origin }))
  }

  /** The very pin that hosts are decided with, where it is in force. */
  function ofSetting(setting: PinSetting): ListedPin {
    const { target, release, arch, stream, reason, until, by, at } = setting
    const { runTime } = view().inventory
    const layers = (target.kind === 'host' ? runTime.byHost : runTime.byGroup).get(target.name)
    // By its key: after a start the view has read it by itself.
    const id = runTimeSettingId(setting)
    const layer = layers?.find((candidate) => runTimeSettingId(candidate.setting) === id)
    const pin = layer?.settings.pins?.[0] ?? { release, arch, stream, reason, until }
    return { target, pin, origin: { ...target, by, at }, setting }
  }

  function ofHost(id: string): readonly ListedPin[] {
    const target = { kind: 'host', name: id } as const
    const settings = [undefined, ...architectures].map((arch) =>
      memory.settings.get(runTimeSettingId({ kind: 'pin', target, arch })),
    )
    const host = view().inventory.hostsById.get(id)
    return [
      ...settings.filter((setting) => setting?.kind === 'pin').map(ofSetting),
      ...(host === undefined ? [] : ofRecord('host', id, host)),
    ]
  }

  function all(): readonly ListedPin[] {
    const { hostsById, pinnedHosts, groups, profiles } = view().inventory
    const listed: ListedPin[] = []
    for (const setting of memory.settings.values())
      if (setting.kind === 'pin') listed.push(ofSetting(setting))
    for (const id of pinnedHosts) {
      const host = hostsById.get(id)
      if (host !== undefined) listed.push(...ofRecord('host', id, host))
    }
    for (const group of groups) listed.push(...ofRecord('group', group.name, group))
    for (const profile of profiles.values()) listed.push(...ofRecord('profile', profile.name, profile))
    return listed.sort((a, b) => compareText(pinKey(a), pinKey(b)))
  }

  function isThere({ kind, name }: PinSummary['target']): boolean {
    const { hostsById, groups, profiles } = view().inventory
    if (kind === 'host') return hostsById.has(name)
    if (kind === 'group') return groups.some((group) => group.name === name)
    return profiles.has(name)
  }

  function usesOfListed({ target, pin, setting }: ListedPin, named: readonly Host[]): readonly PinUse[] {
    const { inventory } = view()
    const uses =
      setting === undefined
        ? usesOf(pin, named, inventory, architecturesOf, clock.now())
        : usesIfSet(setting, named, inventory, architecturesOf)
    const { stream } = pin
    if (uses.length > 0 || stream === undefined) return uses
    const arches = pin.arch === undefined ? architecturesOf(stream) : [pin.arch]
    return target.kind === 'host' && isThere(target)
      ? []
      : arches.map((arch) => ({ stream, arch, isCertain: false }))
  }

  function show(listed: ListedPin, facts: FactsOfHosts, factsAre?: 'before it'): PinSummary {
    const { target, pin, origin, setting } = listed
    const { release, stream, arch, reason, until } = pin
    const now = clock.now()
    const named = hostsFor(target, facts, view().inventory.hostsById)
    const uses = usesOfListed(listed, named)
    const hasStreams = new Set(uses.map((use) => use.stream)).size > 1
    return {
      target,
      release,
      stream,
      arch,
      origin: originText(origin),
      isRunTime: setting !== undefined,
      isExpired: until !== undefined && until <= now,
      isOrphan: !isThere(target),
      reason,
      until: isoIfAny(until),
      by: setting?.by,
      at: setting && iso(setting.at),
      files: uses.map((use) => {
        const file = files.of({ ...use, release })
        return hasStreams
          ? { ...file, text: [`of ${use.stream}`, file.text].filter(Boolean).join(': ') }
          : file
      }),
      hosts:
        target.kind === 'host' || factsAre === 'before it'
          ? countInForce(pin, named, view().inventory, architecturesOf, now)
          : named.filter(({ id }) => factsOfHost(facts, id)?.pins.includes(pin) === true).length,
    }
  }

  return {
    all,
    ofHost,
    ofSetting,
    facts: hosts.facts,
    show,
    async matching({ host, group, stream, release }) {
      const facts = await hosts.facts()
      return all().filter(({ target, pin }) => {
        if (host !== undefined && !(target.kind === 'host' && target.name === host)) return false
        if (group !== undefined && !(target.kind === 'group' && target.name === group)) return false
        if (release !== undefined && pin.release !== release) return false
        if (stream === undefined) return true
        if (pin.stream !== undefined) return pin.stream === stream
        return hostsFor(target, facts, view().inventory.hostsById).some(
          ({ id }) => factsOfHost(facts, id)?.stream === stream,
        )
      })
    },
  }
}

/** The hosts that a target speaks of. */
export function hostsFor(
  target: Target | PinSummary['target'],
  facts: FactsOfHosts,
  hostsById: ReadonlyMap<string, Host>,
): readonly Host[] {
  const { kind, name } = target
  if (kind === 'host') {
    const host = hostsById.get(name)
    return host === undefined ? [] : [host]
  }
  const isIn = ({ groups, profile }: HostFacts) =>
    kind === 'group' ? groups.includes(name) : profile === name
  return facts.filter(isIn).map(({ host }) => host)
}
