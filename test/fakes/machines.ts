import type { BootClient } from '../../src/core/client.ts'
import type { Group, Host, Inventory, InventoryParts, Origin, Profile } from '../../src/core/host.ts'
import { buildInventory } from '../../src/core/inventory.ts'
import { type MacAddress, parseMac } from '../../src/core/mac.ts'
import { parseUuid, type Uuid } from '../../src/core/uuid.ts'

export function mac(text: string): MacAddress {
  const parsed = parseMac(text)
  if (parsed === undefined) throw new Error(`not a MAC: ${text}`)
  return parsed
}

export function uuid(text: string): Uuid {
  const parsed = parseUuid(text)
  if (parsed === undefined) throw new Error(`not a UUID: ${text}`)
  return parsed
}

export const nodeMac = mac('52:54:00:ab:cd:ef')

export function makeClient(sketch: Partial<BootClient> = {}): BootClient {
  return { macs: [nodeMac], arch: 'x86_64', firmware: 'uefi', loader: 'ipxe', ...sketch }
}

function origin(kind: Origin['kind'], name: string, file: string, line: number): Origin {
  return { kind, name, file, line }
}

export function makeHost(sketch: Partial<Host> = {}): Host {
  const id = sketch.id ?? 'n01'
  return { id, macs: [nodeMac], labels: {}, origin: origin('host', id, 'hosts.d/rack1.yaml', 3), ...sketch }
}

export function makeGroup(sketch: Partial<Group> & Pick<Group, 'name'>): Group {
  return { labels: {}, origin: origin('group', sketch.name, 'pilotlight.yaml', 20), ...sketch }
}

export function makeProfile(sketch: Partial<Profile> & Pick<Profile, 'name'>): Profile {
  return { origin: origin('profile', sketch.name, 'pilotlight.yaml', 10), ...sketch }
}

/** Groups are sorted by precedence, whatever their order here. */
export function makeInventory({
  hosts = [],
  groups = [],
  profiles = [],
  unknown = { kind: 'ignore' },
}: Partial<InventoryParts> = {}): Inventory {
  return buildInventory({ hosts, groups, profiles, unknown })
}
