import { describe, expect, it } from 'vitest'
import { toIpv4 } from '../../src/core/ipv4.ts'
import type { ClientKey } from '../../src/dhcp/hardware-address.ts'
import type { LeaseChange, LeaseStore } from '../../src/dhcp/leases/lease.ts'

export const leaseChanges: readonly LeaseChange[] = [
  {
    kind: 'leased',
    address: toIpv4(0xc0000237),
    key: '52:54:00:ab:cd:ef' as ClientKey,
    until: 1_795_957_200,
  },
  {
    kind: 'released',
    address: toIpv4(0xc0000238),
    key: 'id/ff00000000000200' as ClientKey,
    until: 1_795_953_601,
  },
  { kind: 'declined', address: toIpv4(0xc0000239), until: 1_795_954_500 },
  { kind: 'leased', address: toIpv4(0xc000023a), key: 'hw/32/a1b2c3' as ClientKey, until: 4_294_967_295 },
]

/** What every lease store does. `open` opens the same store again, as a restarted service does. */
export function testLeaseStore(name: string, create: () => Promise<{ open(): LeaseStore }>): void {
  describe(`${name} as a lease store`, () => {
    it('is empty at first', async () => {
      const store = (await create()).open()
      expect(await store.load()).toEqual([])
      await store.close()
    })

    it('gives back what was appended, in order, after a restart', async () => {
      const { open } = await create()
      const before = open()
      await before.load()
      await before.append(leaseChanges.slice(0, 2))
      await before.append(leaseChanges.slice(2))
      await before.close()
      const after = open()
      expect(await after.load()).toEqual(leaseChanges)
      await after.append(leaseChanges.slice(0, 1))
      await after.close()
      const again = open()
      expect(await again.load()).toEqual([...leaseChanges, leaseChanges[0]])
      await again.close()
    })

    it('holds only what a rewrite says, and what comes after it', async () => {
      const { open } = await create()
      const before = open()
      await before.load()
      await before.append(leaseChanges)
      await before.rewrite(leaseChanges.slice(3))
      await before.append(leaseChanges.slice(0, 1))
      await before.close()
      const after = open()
      expect(await after.load()).toEqual([leaseChanges[3], leaseChanges[0]])
      await after.close()
    })

    it('may be closed twice, and appends of nothing are fine', async () => {
      const store = (await create()).open()
      await store.load()
      await store.append([])
      await store.close()
      await store.close()
    })
  })
}
