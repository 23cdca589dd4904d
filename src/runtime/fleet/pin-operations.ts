import type { StreamConfig } from '../../config/config.ts'
import { formats } from '../../config/formats.ts'
import type { Arch } from '../../core/arch.ts'
import { ServiceError } from '../../core/errors.ts'
import { runTimeSettingId } from '../../core/fleet.ts'
import type { Host } from '../../core/host.ts'
import type { ChangeOptions, FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { PinSummary, RemovePin, SetPin } from '../../http/admin/schemas/fleet.ts'
import type { WantedPin } from '../../rollout/wanted-pins.ts'
import { noSuchStream } from '../no-such-name.ts'
import { auditEntry } from './audit-entry.ts'
import type { FleetPlan } from './change-queue.ts'
import { endOf } from './end-of.ts'
import { findGroup, findHost, findTarget, isOfFile, placeText, targetText } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { FactsOfHosts } from './host-list.ts'
import { pageOf } from './page-of.ts'
import { hostsFor, type PinList, pinKey } from './pin-list.ts'
import { type ArchitecturesOf, type PinSetting, type PinUse, usesIfSet } from './pin-uses.ts'
import { iso } from './times.ts'

export interface PinOperationsOptions
  extends Pick<FleetContext, 'queue' | 'memory' | 'view' | 'clock' | 'streams'> {
  readonly list: PinList
  readonly architecturesOf: ArchitecturesOf
  /** @throws ServiceError USAGE when the release can never be had for one of them */
  readonly checkRelease: (release: string, uses: readonly PinUse[]) => Promise<void>
  readonly currentRelease: (stream: string, arch: Arch) => string | undefined
  /** Fetches what a pin that came into force needs; must not throw. */
  readonly want: (pins: readonly WantedPin[]) => void
  /** A pin has gone: what nobody needs any more may go. */
  readonly onRemoved: () => void
}

/** A release for a host or group, checked when it is set (G5). */
export function createPinOperations(
  options: PinOperationsOptions,
): Pick<FleetOperations, 'listPins' | 'setPin' | 'removePin'> {
  const { queue, memory, view, clock, list, architecturesOf } = options

  /** All that can be said before anybody upstream is asked. */
  function checked(body: SetPin, change: ChangeOptions, facts: FactsOfHosts) {
    const { inventory } = view()
    const { target, stream, arch } = body
    const record = findTarget(target, inventory)
    const ownArch = 'macs' in record ? record.arch : undefined
    if (arch !== undefined && ownArch !== undefined && arch !== ownArch) {
      throw new ServiceError(
        'USAGE',
        `host ${target.name} is ${ownArch}, so a pin for ${arch} never counts`,
        {
          field: 'arch',
          hint: `leave arch out, or give ${ownArch}`,
        },
      )
    }
    if (stream !== undefined) checkStream(stream, arch ?? ownArch, options.streams())
    const hosts = hostsFor(target, facts, inventory.hostsById)
    const setting = settingOf(body, change, 'macs' in record ? record : undefined)
    const uses = usesIfSet(setting, hosts, inventory, architecturesOf)
    return uses.length > 0 ? { setting, uses } : { setting, uses: usesWithoutHosts(body, hosts) }
  }

  /** Nobody is there who would use it, so the target itself must say of which stream it is. */
  function usesWithoutHosts({ target, stream, arch }: SetPin, hosts: readonly Host[]): readonly PinUse[] {
    const { groups, profiles } = view().inventory
    const group = target.kind === 'group' ? groups.find(({ name }) => name === target.name) : undefined
    const profile = group?.profile === undefined ? undefined : profiles.get(group.profile)
    const followed = stream ?? group?.stream ?? profile?.stream
    if (followed === undefined) throw noStream(target, hosts.length)
    checkStream(followed, arch, options.streams())
    const arches = arch === undefined ? architecturesOf(followed) : [arch]
    return arches.map((each) => ({ stream: followed, arch: each, isCertain: arch !== undefined }))
  }

  function settingOf(body: SetPin, { actor }: ChangeOptions, host: Host | undefined): PinSetting {
    const now = clock.now()
    const { target, release, stream, arch, reason, until } = body
    return {
      kind: 'pin',
      target,
      release,
      by: actor.by,
      at: now,
      ...(stream === undefined ? {} : { stream }),
      ...(arch === undefined ? {} : { arch }),
      ...(reason === undefined ? {} : { reason }),
      ...(until === undefined ? {} : { until: endOf(until, now) }),
      ...(host === undefined ? {} : { macs: host.macs }),
    }
  }

  /** `current` is what is current at this moment, and stays that. */
  function named(body: SetPin, uses: readonly PinUse[]): string {
    if (body.release !== 'current') return body.release
    const byArch = new Map(uses.map((use) => [use, options.currentRelease(use.stream, use.arch)]))
    const releases = new Set([...byArch.values()].filter((release) => release !== undefined))
    const [release] = releases
    const [use] = uses
    if (release !== undefined && releases.size === 1) return release
    throw new ServiceError(
      'USAGE',
      release === undefined
        ? `nothing is current for ${use?.stream ?? 'it'} yet`
        : `what is current differs: ${[...byArch].map(([{ stream, arch }, its]) => `${its ?? 'nothing'} of ${stream} for ${arch}`).join(', ')}`,
      { field: 'release', hint: 'name a release, or pin each architecture by itself' },
    )
  }

  async function setPin(asked: SetPin, change: ChangeOptions): Promise<PinSummary> {
    if (formats.release.problem(asked.release) !== undefined) throw badRelease(asked.release)
    // Upstream is asked before it is anybody's turn: others do not wait for it.
    const facts = await list.facts()
    const { uses } = checked(asked, change, facts)
    const body = { ...asked, release: named(asked, uses) }
    await options.checkRelease(body.release, uses)
    return queue.change(() => planSet(body, change, facts), change)
  }

  function planSet(body: SetPin, change: ChangeOptions, facts: FactsOfHosts): FleetPlan<PinSummary> {
    const { setting, uses } = checked(body, change, facts)
    const { target, release, until, stream, arch } = setting
    const what = [release, stream && `of ${stream}`, arch && `for ${arch}`, until && `until ${iso(until)}`]
    return {
      changes: [{ put: 'setting', setting }],
      audit: [
        auditEntry(change, setting.at, {
          action: 'pin.set',
          target: targetText(target),
          summary: `${target.kind} ${target.name} is pinned to ${what.filter(Boolean).join(' ')}`,
          reason: setting.reason,
        }),
      ],
      answer: () => list.show(list.ofSetting(setting), facts, 'before it'),
      after: () => options.want(uses.map((use) => ({ stream: use.stream, arch: use.arch, release }))),
    }
  }

  function planRemove({ target, arch, reason }: RemovePin, change: ChangeOptions): FleetPlan<void> {
    const now = clock.now()
    const id = runTimeSettingId({ kind: 'pin', target, ...(arch === undefined ? {} : { arch }) })
    const setting = memory.settings.get(id)
    if (setting?.kind !== 'pin') throw noPin({ target, arch })
    return {
      changes: [{ remove: 'setting', id }],
      audit: [
        auditEntry(change, now, {
          action: 'pin.remove',
          target: targetText(target),
          summary: `${target.kind} ${target.name} is no longer pinned to ${setting.release}${arch === undefined ? '' : ` for ${arch}`}`,
          reason,
        }),
      ],
      answer: () => {},
      after: options.onRemoved,
    }
  }

  function noPin({ target, arch }: RemovePin): ServiceError {
    const ofTarget = [...memory.settings.values()].filter(
      (setting) =>
        setting.kind === 'pin' && setting.target.kind === target.kind && setting.target.name === target.name,
    )
    if (ofTarget.length > 0) {
      const arches = ofTarget.map((setting) => ('arch' in setting ? setting.arch : undefined) ?? 'all')
      return new ServiceError(
        'NOT_FOUND',
        `${target.kind} ${target.name} has no pin of its own for ${arch ?? 'all architectures'}`,
        { field: 'arch', hint: `it is pinned for ${arches.join(', ')}` },
      )
    }
    const { inventory } = view()
    const record =
      target.kind === 'host' ? findHost(target.name, inventory) : findGroup(target.name, inventory)
    if (record.pins === undefined) {
      return new ServiceError('NOT_FOUND', `${target.kind} ${target.name} is not pinned itself`, {
        field: 'target',
        hint: 'pilotlight pins lists every pin; a host may be pinned by its group or profile',
      })
    }
    return new ServiceError(
      'CONFLICT',
      `${target.kind} ${target.name} is pinned by its record, ${placeText(record.origin)}`,
      {
        field: 'target',
        hint: isOfFile(record.origin)
          ? 'remove the pin in that file, or pin another release here: that stands above the file'
          : 'change the record',
      },
    )
  }

  return {
    async listPins(query) {
      const matching = await list.matching(query)
      const facts = await list.facts()
      return pageOf(matching, query, pinKey, (listed) => list.show(listed, facts))
    },
    setPin,
    removePin: (body, change) => queue.change(() => planRemove(body, change), change),
  }
}

/** @throws ServiceError NOT_FOUND, USAGE */
function checkStream(name: string, arch: Arch | undefined, streams: ReadonlyMap<string, StreamConfig>): void {
  const stream = streams.get(name)
  if (stream === undefined) throw noSuchStream(name, [...streams.keys()])
  if (arch === undefined || stream.architectures.includes(arch)) return
  throw new ServiceError('USAGE', `stream ${name} does not follow ${arch}`, {
    field: 'arch',
    hint: `it follows ${stream.architectures.join(', ')} (streams.${name}.architectures)`,
  })
}

function badRelease(release: string): ServiceError {
  return new ServiceError('USAGE', `${JSON.stringify(release)} is no release`, {
    field: 'release',
    hint: `allowed: ${formats.release.allowed}, or current`,
  })
}

function noStream({ kind, name }: SetPin['target'], hosts: number): ServiceError {
  return new ServiceError(
    'USAGE',
    kind === 'host' || hosts > 0
      ? `${kind} ${name} follows no stream, or none for its architecture`
      : `group ${name} has no hosts and names no stream`,
    { field: 'stream', hint: 'say of which stream the release is' },
  )
}
