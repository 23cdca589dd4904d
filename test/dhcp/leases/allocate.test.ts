import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatIpv4, type Ipv4, toIpv4 } from '../../../src/core/ipv4.ts'
import type { ClientKey } from '../../../src/dhcp/hardware-address.ts'
import { LeasePool, type WantedAddress } from '../../../src/dhcp/leases/allocate.ts'
import type { LeaseChange } from '../../../src/dhcp/leases/lease.ts'
import { subnetSettings } from '../engine-support.ts'
import { ip } from '../support.ts'

const start = 1_795_953_600
const hour = 3600
const first = ip('192.0.2.50')

interface PoolOptions {
  readonly size?: number
  readonly reserved?: readonly Ipv4[]
  readonly ours?: readonly Ipv4[]
}

function createPool({ size = 4, reserved = [], ours = [] }: PoolOptions = {}): LeasePool {
  return new LeasePool({
    subnet: subnetSettings({ ranges: [{ first, last: toIpv4(first + size - 1) }] }),
    isReserved: (address) => reserved.includes(address),
    isOurs: (address) => ours.includes(address),
  })
}

function key(number: number): ClientKey {
  return `52:54:00:00:${Math.floor(number / 256)
    .toString(16)
    .padStart(2, '0')}:${(number % 256).toString(16).padStart(2, '0')}` as ClientKey
}

const nothingWanted: WantedAddress = { requested: undefined, reserved: undefined }

function offer(
  pool: LeasePool,
  client: ClientKey,
  now = start,
  wanted: Partial<WantedAddress> = {},
): Ipv4 | undefined {
  return pool.offer(client, now, { ...nothingWanted, ...wanted })
}

function acquire(pool: LeasePool, client: ClientKey, now = start): Ipv4 {
  const address = offer(pool, client, now)
  if (address === undefined) throw new Error('exhausted')
  const binding = pool.bind(client, address, now, hour, undefined)
  if (!binding.lease) throw new Error(binding.reason)
  if (binding.change) pool.noteStored(binding.change)
  return address
}

describe('an offer', () => {
  it('is held for its REQUEST, so that two machines are not offered one address', () => {
    const pool = createPool({ size: 3 })
    expect(new Set([offer(pool, key(1)), offer(pool, key(2)), offer(pool, key(3))]).size).toBe(3)
  })

  it('is the same when the machine asks again', () => {
    const pool = createPool({ size: 100 })
    const address = offer(pool, key(1))
    expect(offer(pool, key(1), start + 5)).toBe(address)
    expect(offer(pool, key(1), start + 300)).toBe(address)
  })

  it('of an address that the machine asks for, when nobody has it', () => {
    const pool = createPool({ size: 100 })
    expect(offer(pool, key(1), start, { requested: toIpv4(first + 77) })).toBe(first + 77)
    expect(offer(pool, key(2), start, { requested: toIpv4(first + 77) })).not.toBe(first + 77)
    expect(offer(pool, key(3), start, { requested: ip('192.0.2.200') })).toBeLessThan(first + 100)
  })

  it('to a new machine is chosen by its key, so that it is the same after the log was lost', () => {
    const before = Array.from({ length: 20 }, (_, index) => acquire(createPool({ size: 100 }), key(index)))
    const after = Array.from({ length: 20 }, (_, index) => acquire(createPool({ size: 100 }), key(index)))
    expect(after).toEqual(before)
    expect(new Set(before).size).toBeGreaterThan(12)
  })

  it('is never an address of ours, a reserved one, or an end of the subnet', () => {
    const pool = new LeasePool({
      subnet: subnetSettings({
        text: '192.0.2.0/29',
        ranges: [{ first: ip('192.0.2.0'), last: ip('192.0.2.7') }],
      }),
      isReserved: (address) => address === ip('192.0.2.3'),
      isOurs: (address) => address === ip('192.0.2.1'),
    })
    const offered = Array.from({ length: 4 }, (_, index) => formatIpv4(acquire(pool, key(index))))
    expect(offered.sort()).toEqual(['192.0.2.2', '192.0.2.4', '192.0.2.5', '192.0.2.6'])
    expect(offer(pool, key(9))).toBeUndefined()
  })
})

describe('reuse of addresses', () => {
  it('takes fresh ones first, then the one that has been free the longest', () => {
    const pool = createPool({ size: 3 })
    const oldest = acquire(pool, key(1), start)
    const newer = acquire(pool, key(2), start + 100)
    const later = start + 2 * hour
    const fresh = acquire(pool, key(3), later)
    expect([oldest, newer]).not.toContain(fresh)
    expect(acquire(pool, key(4), later)).toBe(oldest)
    expect(acquire(pool, key(5), later)).toBe(newer)
  })

  it('remembers an expired address as its machine’s until somebody needs it', () => {
    const pool = createPool({ size: 10 })
    const address = acquire(pool, key(1))
    for (let other = 2; other < 8; other++) acquire(pool, key(other), start + 2 * hour)
    expect(acquire(pool, key(1), start + 3 * hour)).toBe(address)
  })

  it('of an offer that was never taken up leaves the memory of its last holder alone', () => {
    const pool = createPool({ size: 1 })
    const address = acquire(pool, key(1))
    const later = start + 2 * hour
    expect(offer(pool, key(2), later)).toBe(address)
    expect(offer(pool, key(1), later + 41)).toBe(address)
    expect(pool.leaseOf(key(1))?.address).toBe(address)
  })

  it('finds an address that ran out early behind others that did not', () => {
    const pool = createPool({ size: 2 })
    acquire(pool, key(1))
    const short = offer(pool, key(2)) as Ipv4
    pool.bind(key(2), short, start, 120, undefined)
    expect(offer(pool, key(3), start + 119)).toBeUndefined()
    expect(offer(pool, key(3), start + 130)).toBe(short)
  })
})

describe('floods', () => {
  it('of offers that nobody takes up do not exhaust the pool', () => {
    const pool = createPool({ size: 20 })
    for (let client = 0; client < 5000; client++) expect(offer(pool, key(client))).toBeDefined()
    expect(pool.usage(start).offered).toBeLessThanOrEqual(20)
    acquire(pool, key(6000))
  })

  it('do not take an active lease, nor what an honest machine was just offered and now asks for', () => {
    const pool = createPool({ size: 20 })
    const held = acquire(pool, key(9000))
    const offered = offer(pool, key(9001)) as Ipv4
    for (let client = 0; client < 5000; client++) expect(offer(pool, key(client))).not.toBe(held)
    expect(pool.bind(key(9001), offered, start + 4, hour, undefined).lease?.address).toBe(offered)
    expect(offer(pool, key(9000))).toBe(held)
  })

  it('hold a bounded number of offers in a large pool', () => {
    const pool = new LeasePool({
      subnet: subnetSettings({
        text: '10.0.0.0/8',
        ranges: [{ first: ip('10.0.0.1'), last: ip('10.255.255.254') }],
      }),
      isReserved: () => false,
      isOurs: () => false,
    })
    for (let client = 0; client < 10_000; client++) offer(pool, key(client))
    expect(pool.usage(start).offered).toBe(4096)
  })

  it('of words from machines without a lease change nothing', () => {
    const pool = createPool()
    const held = acquire(pool, key(1))
    expect(pool.decline(key(2), held, start)).toBeUndefined()
    expect(pool.release(key(2), held, start)).toBeUndefined()
    expect(pool.decline(key(2), toIpv4(first + 1), start)).toBeUndefined()
    expect(pool.usage(start)).toMatchObject({ leased: 1, declined: 0 })
  })
})

describe('a declined address', () => {
  it('rests, also for its machine’s reservation and after a restart', () => {
    const pool = createPool({ size: 2 })
    const address = acquire(pool, key(1))
    const change = pool.decline(key(1), address, start)
    expect(change).toEqual({ kind: 'declined', address, until: start + 900 })
    expect(offer(pool, key(1), start, { reserved: address })).not.toBe(address)
    expect(pool.bind(key(1), address, start, hour, address)).toEqual({ reason: 'declined-lately' })
    const restarted = createPool({ size: 2 })
    restarted.restore(change as LeaseChange, start + 10)
    expect(offer(restarted, key(1), start + 10, { requested: address })).not.toBe(address)
    expect(offer(restarted, key(2), start + 901, { requested: address })).toBe(address)
  })
})

describe('a lease that is asked for again', () => {
  it('is granted for what is left while that is most of it, and stored again after that', () => {
    const pool = createPool()
    const address = acquire(pool, key(1))
    expect(pool.bind(key(1), address, start + 899, hour, undefined)).toMatchObject({
      change: undefined,
      lease: { until: start + hour },
    })
    expect(pool.bind(key(1), address, start + 901, hour, undefined)).toMatchObject({
      change: { until: start + 901 + hour },
    })
  })

  it('is stored with the second acknowledgement when the first is not stored yet', () => {
    const pool = createPool()
    const address = offer(pool, key(1)) as Ipv4
    const { change } = pool.bind(key(1), address, start, hour, undefined) as { change: LeaseChange }
    expect(pool.bind(key(1), address, start + 1, hour, undefined)).toMatchObject({ change })
    pool.noteStored(change)
    expect(pool.bind(key(1), address, start + 2, hour, undefined)).toMatchObject({ change: undefined })
  })
})

/** Whatever clients do, in whatever order: an active lease has one holder, and a restart knows it. */
describe('any sequence of events', () => {
  const client = fc.integer({ min: 0, max: 7 })
  const address = fc.integer({ min: 0, max: 5 }).map((index) => toIpv4(first + index))
  const step = fc.oneof(
    fc.record({ do: fc.constant('offer' as const), client, address: fc.option(address, { nil: undefined }) }),
    fc.record({ do: fc.constant('bind' as const), client, address }),
    fc.record({ do: fc.constant('acquire' as const), client }),
    fc.record({ do: fc.constant('release' as const), client, address }),
    fc.record({ do: fc.constant('decline' as const), client, address }),
    fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 5000 }) }),
  )

  it('never gives an active lease to another machine, and survives a restart', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pool = createPool({ size: 5, reserved: [toIpv4(first + 1)] })
        const log: LeaseChange[] = []
        const held = new Map<Ipv4, { key: ClientKey; until: number }>()
        let now = start

        const note = (change: LeaseChange | undefined) => {
          if (change === undefined) return
          log.push(change)
          pool.noteStored(change)
          if (change.kind !== 'leased') held.delete(change.address)
          else {
            for (const [other, holder] of held) if (holder.key === change.key) held.delete(other)
            held.set(change.address, { key: change.key, until: change.until })
          }
        }
        const bind = (who: ClientKey, what: Ipv4) => {
          const holder = held.get(what)
          const binding = pool.bind(who, what, now, hour, undefined)
          if (holder !== undefined && holder.key !== who && holder.until > now)
            expect(binding.lease).toBeUndefined()
          if (binding.lease) note(binding.change)
        }

        for (const each of steps) {
          switch (each.do) {
            case 'wait':
              now += each.seconds
              break
            case 'offer':
            case 'acquire': {
              const who = key(each.client)
              const offered = pool.offer(who, now, {
                requested: 'address' in each ? each.address : undefined,
                reserved: undefined,
              })
              const holder = offered === undefined ? undefined : held.get(offered)
              if (holder && holder.until > now) expect(holder.key).toBe(who)
              expect(offered).not.toBe(first + 1)
              if (each.do === 'acquire' && offered !== undefined) bind(who, offered)
              break
            }
            case 'bind':
              bind(key(each.client), each.address)
              break
            case 'release':
              note(pool.release(key(each.client), each.address, now))
              break
            case 'decline':
              note(pool.decline(key(each.client), each.address, now))
          }
        }

        const restarted = createPool({ size: 5, reserved: [toIpv4(first + 1)] })
        for (const change of log) restarted.restore(change, now)
        const rewritten = createPool({ size: 5, reserved: [toIpv4(first + 1)] })
        for (const change of pool.changes(now)) rewritten.restore(change, now)
        for (const [what, { key: who, until }] of held) {
          if (until <= now) continue
          expect(restarted.leaseOf(who)).toMatchObject({ address: what, until })
          expect(rewritten.leaseOf(who)).toMatchObject({ address: what, until })
        }
        const usage = pool.usage(now)
        expect(restarted.usage(now)).toMatchObject({ leased: usage.leased, declined: usage.declined })
        expect(rewritten.usage(now)).toMatchObject({ leased: usage.leased, declined: usage.declined })
      }),
      { numRuns: 400 },
    )
  })
})
