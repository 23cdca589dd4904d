import { suggestion } from '../../config/suggest.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SeenMachine } from '../../core/fleet.ts'
import type { Host } from '../../core/host.ts'
import { type MacAddress, macWithHyphens, parseMac } from '../../core/mac.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { FleetContext } from './fleet-context.ts'
import { iso } from './times.ts'

/** Machines that no record matches, as they were seen. */
export interface SeenList {
  list(): readonly SeenMachine[]
  /** They are hosts now. */
  forget(macs: readonly MacAddress[]): Promise<void>
}

/**
 * Makes a host of a machine that was seen: the card that it booted from first, others of the record after it (field case
 * 158). It goes on to get the profile of unknown machines, where neither the record nor its groups give it one: it
 * booted so until now, and a host without a profile is held.
 */
export function createAdoptHost(
  options: Pick<FleetContext, 'view' | 'boots'> & {
    readonly seen: SeenList
    readonly putHost: FleetOperations['putHost']
  },
): FleetOperations['adoptHost'] {
  const { seen, view, boots, putHost } = options

  function findSeen(text: string): SeenMachine {
    const mac = parseMac(text)
    const machines = seen.list()
    const machine = machines.find((candidate) => candidate.mac === mac)
    if (machine !== undefined) return machine
    const host = mac && view().inventory.hostsByMac.get(mac)
    if (host !== undefined) {
      throw new ServiceError('CONFLICT', `MAC ${mac} belongs to host ${host.id} already`, { field: 'mac' })
    }
    const macs = machines.map((candidate) => candidate.mac)
    throw new ServiceError('NOT_FOUND', `no unknown machine with MAC ${JSON.stringify(text)} was seen`, {
      field: 'mac',
      hint:
        (mac && suggestion(mac, macs)) ??
        'pilotlight host seen lists them; pilotlight host add needs no sighting',
    })
  }

  function usualProfile({ profile, labels = {} }: Record<string, unknown>): { readonly profile?: string } {
    const { unknown, groupIndex } = view().inventory
    if (profile !== undefined || unknown.kind !== 'profile') return {}
    const groups = groupIndex.groupsOf({ labels: labels as Host['labels'] })
    return groups.some((group) => group.profile !== undefined) ? {} : { profile: unknown.profile }
  }

  return async ({ mac: text, id, spec = {}, reason }, change) => {
    const { mac, uuid, serial, arch, lastSeenAt } = findSeen(text)
    const { macs: others, ...said } = spec
    const more = (Array.isArray(others) ? others : others === undefined ? [] : [others]).filter(
      (other) => parseMac(String(other)) !== mac,
    )
    const record = {
      macs: [mac, ...more],
      ...(uuid === undefined ? {} : { uuid }),
      ...(serial === undefined ? {} : { serial }),
      ...(arch === undefined ? {} : { arch }),
      ...usualProfile(said),
      ...said,
    }
    const name = id ?? macWithHyphens(mac)
    // A host of that name may be there: it is not replaced by one that was only seen.
    const detail = await putHost(
      name,
      { spec: record, reason },
      { ...change, ifRevision: change.ifRevision ?? 0 },
    )
    if (change.dryRun === true) return detail
    boots.saw(mac, lastSeenAt)
    await seen.forget(detail.macs.map((each) => each as MacAddress))
    return { ...detail, lastSeenAt: iso(lastSeenAt) }
  }
}
