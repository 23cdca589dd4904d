import { createGroupIndex } from './group-index.ts'
import type { Group, Host, Inventory, InventoryParts } from './host.ts'
import type { MacAddress } from './mac.ts'
import { swapUuidByteOrder, type Uuid } from './uuid.ts'

/**
 * Indexes what admins said for the boot path: each way to recognise a machine is one map lookup.
 * Where two hosts claim the same MAC, UUID (in either byte order, field case 155), serial or id, the first one keeps
 * it; the configuration refuses such files before they come here.
 */
export function buildInventory({ hosts, groups, profiles, unknown }: InventoryParts): Inventory {
  const hostsById = new Map<string, Host>()
  const hostsByMac = new Map<MacAddress, Host>()
  const hostsByUuid = new Map<Uuid, Host>()
  const hostsBySerial = new Map<string, Host>()
  for (const host of hosts) {
    claim(hostsById, host.id, host)
    for (const mac of host.macs) claim(hostsByMac, mac, host)
    if (host.uuid !== undefined) {
      claim(hostsByUuid, host.uuid, host)
      claim(hostsByUuid, swapUuidByteOrder(host.uuid), host)
    }
    if (host.serial !== undefined) claim(hostsBySerial, host.serial, host)
  }
  const sorted = [...groups].sort(byPrecedence)
  return {
    hostsById,
    hostsByMac,
    hostsByUuid,
    hostsBySerial,
    groups: sorted,
    groupIndex: createGroupIndex(sorted),
    profiles: new Map(profiles.map((profile) => [profile.name, profile])),
    unknown,
  }
}

/** More selectors first, then by name as code points, so that the order is the same on every machine. */
function byPrecedence(a: Group, b: Group): number {
  const selectors = Object.keys(b.labels).length - Object.keys(a.labels).length
  if (selectors !== 0) return selectors
  return a.name < b.name ? -1 : Number(a.name > b.name)
}

function claim<Key>(index: Map<Key, Host>, key: Key, host: Host): void {
  if (!index.has(key)) index.set(key, host)
}
