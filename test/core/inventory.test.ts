import { describe, expect, it } from 'vitest'
import type { Group, Host, InventoryParts, Origin } from '../../src/core/host.ts'
import { buildInventory } from '../../src/core/inventory.ts'
import { type MacAddress, parseMac } from '../../src/core/mac.ts'
import { parseUuid, type Uuid } from '../../src/core/uuid.ts'

const origin: Origin = { kind: 'host', name: '' }
const host = (id: string, extra: Partial<Host> = {}): Host => ({ id, macs: [], labels: {}, origin, ...extra })
const group = (name: string, labels: Group['labels'] = {}): Group => ({ name, labels, origin })
const mac = (text: string) => parseMac(text) as MacAddress
const uuid = (text: string) => parseUuid(text) as Uuid
const build = (parts: Partial<InventoryParts>) =>
  buildInventory({ hosts: [], groups: [], profiles: [], unknown: { kind: 'ignore' }, ...parts })

describe('the inventory', () => {
  it('finds a host by its id, any of its MACs, its UUID and its serial', () => {
    const machine = host('n01', {
      macs: [mac('52:54:00:ab:cd:ef'), mac('52:54:00:ab:cd:f0')],
      uuid: uuid('00112233-4455-6677-8899-aabbccddeeff'),
      serial: 'VMware-42 1c',
    })
    const inventory = build({ hosts: [host('other'), machine] })
    expect(inventory.hostsById.get('n01')).toBe(machine)
    expect(inventory.hostsByMac.get(mac('52-54-00-AB-CD-EF'))).toBe(machine)
    expect(inventory.hostsByMac.get(mac('525400abcdf0'))).toBe(machine)
    expect(inventory.hostsByUuid.get(uuid('00112233-4455-6677-8899-AABBCCDDEEFF'))).toBe(machine)
    expect(inventory.hostsBySerial.get('VMware-42 1c')).toBe(machine)
  })

  it('finds a host by its UUID in the other byte order', () => {
    const machine = host('n01', { uuid: uuid('00112233-4455-6677-8899-aabbccddeeff') })
    expect(build({ hosts: [machine] }).hostsByUuid.get(uuid('33221100-5544-7766-8899-aabbccddeeff'))).toBe(
      machine,
    )
  })

  it('what two hosts claim stays with the first', () => {
    const shared = { macs: [mac('52:54:00:ab:cd:ef')], serial: 'S1' }
    const first = host('n01', { ...shared, uuid: uuid('00112233-4455-6677-8899-aabbccddeeff') })
    const second = host('n02', { ...shared, uuid: uuid('33221100-5544-7766-8899-aabbccddeeff') })
    const inventory = build({ hosts: [first, second] })
    expect(inventory.hostsByMac.get(mac('52:54:00:ab:cd:ef'))).toBe(first)
    expect(inventory.hostsBySerial.get('S1')).toBe(first)
    expect([...new Set(inventory.hostsByUuid.values())]).toEqual([first])
    expect(inventory.hostsById.size).toBe(2)
  })

  it('groups with more selectors come first, then by name', () => {
    const groups = [
      group('b', { site: 'edge' }),
      group('Z', { site: 'edge' }),
      group('a', { site: 'edge' }),
      group('z', { site: 'edge', rack: '1' }),
      group('none'),
    ]
    const names = build({ groups }).groups.map(({ name }) => name)
    expect(names).toEqual(['z', 'Z', 'a', 'b', 'none'])
    expect(groups.map(({ name }) => name)).toEqual(['b', 'Z', 'a', 'z', 'none'])
  })

  it('profiles and the policy for unknown machines come through', () => {
    const profile = { name: 'live', origin }
    const inventory = build({ profiles: [profile], unknown: { kind: 'profile', profile: 'live' } })
    expect(inventory.profiles.get('live')).toBe(profile)
    expect(inventory.unknown).toEqual({ kind: 'profile', profile: 'live' })
  })

  it('a hundred thousand hosts are indexed by all their marks', () => {
    const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')
    const hosts = Array.from({ length: 100_000 }, (_, number) =>
      host(`n${number}`, {
        macs: [mac(`5254${hex(number, 8)}`), mac(`5255${hex(number, 8)}`)],
        uuid: uuid(`${hex(number, 8)}-1234-2222-3333-444444444444`),
        serial: `S${number}`,
      }),
    )
    const inventory = build({ hosts })
    expect(inventory.hostsByMac.size).toBe(200_000)
    expect(inventory.hostsByUuid.size).toBe(200_000)
    expect(inventory.hostsByMac.get(mac('52550001869f'))?.id).toBe('n99999')
  })
})
