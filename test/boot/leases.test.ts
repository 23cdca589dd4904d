import { describe, expect, it } from 'vitest'
import { createLeases, leaseEndedBy } from '../../src/boot/leases.ts'
import type { BootId } from '../../src/core/boot-event.ts'
import { type BootLease, longestBootAttemptMs } from '../../src/core/boot-lease.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import type { MacAddress } from '../../src/core/mac.ts'
import { wholeEvents } from '../fakes/stored-attempts.ts'

const start = 1_000_000
const bootId = (name: string) => name.padEnd(22, '-') as BootId
const mac = '52:54:00:ab:cd:ef' as MacAddress
const imageId = (name: string) => name as BootimageId

function attempt(name: string, bootimage: string, at = start): BootLease {
  return { bootId: bootId(name), bootimage: imageId(bootimage), startedAt: at, lastSeenAt: at }
}

describe('a lease', () => {
  it('G6 holds its bootimage until the longest boot is over', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    expect([...leases.leasedBootimages(start + longestBootAttemptMs - 1)]).toEqual(['image-1'])
    expect([...leases.leasedBootimages(start + longestBootAttemptMs)]).toEqual([])
    expect(leases.size).toBe(0)
  })

  it('G6 lasts on while the machine shows signs of life', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    const later = start + longestBootAttemptMs - 1
    leases.touch(bootId('a'), later)
    expect([...leases.leasedBootimages(later + longestBootAttemptMs - 1)]).toEqual(['image-1'])
  })

  it('is not revived by a sign of life of an unknown boot', () => {
    const leases = createLeases()
    leases.touch(bootId('nobody'), start)
    expect(leases.size).toBe(0)
    expect(leases.takeUnsaved()).toEqual([])
  })

  it('G6 of a machine that asks again and again without fetching anything is one, from its newest boot on', () => {
    const leases = createLeases()
    const ask = (name: string, at: number, others: Partial<BootLease> = {}) =>
      leases.start({ ...attempt(name, 'image-1', at), mac, host: 'n01', ...others })
    for (let turn = 0; turn < 100; turn += 1) ask(`turn-${turn}`, start + turn)
    expect(leases.takeUnsaved().map((saved) => saved.bootId)).toEqual([bootId('turn-99')])
    expect(leases.size).toBe(1)
    expect([...leases.leasedBootimages(start + 99 + longestBootAttemptMs - 1)]).toEqual(['image-1'])

    leases.touch(bootId('turn-99'), start + 200)
    ask('after-a-fetch', start + 300)
    ask('other-image', start + 400, { bootimage: imageId('image-2') })
    ask('other-host', start + 500, { bootimage: imageId('image-2'), host: 'n02' })
    ask('clock-set-back', start, { bootimage: imageId('image-2'), host: 'n02' })
    expect(leases.size).toBe(5)
  })

  it('G6 ends early for the boot whose machine is up, and for no other', () => {
    const leases = createLeases()
    for (const name of ['a', 'b']) leases.start(attempt(name, 'image-1'))
    leases.start(attempt('c', 'image-2'))
    leases.end(bootId('a'))
    leases.end(bootId('a'))
    leases.end(bootId('nobody'))
    expect([...leases.leasedBootimages(start)]).toEqual(['image-1', 'image-2'])
    leases.end(bootId('b'))
    expect([...leases.leasedBootimages(start)]).toEqual(['image-2'])
    // What it booted is still known: a late report names it.
    expect(leases.attemptOf(bootId('a'))?.bootimage).toBe('image-1')
  })

  it('G6 ends early by the word of its own machine alone', () => {
    const { reported } = wholeEvents
    expect(leaseEndedBy(reported)).toBe(reported.bootId)
    expect(leaseEndedBy({ ...reported, status: 'installed' })).toBe(reported.bootId)
    expect(leaseEndedBy({ ...reported, status: 'failed' })).toBeUndefined()
    for (const event of Object.values(wholeEvents)) {
      if (event.type !== 'reported') expect(leaseEndedBy(event), event.type).toBeUndefined()
    }
  })

  it('G6 that has ended begins again when its machine fetches on after all', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.end(bootId('a'))
    leases.touch(bootId('a'), start + 1)
    expect([...leases.leasedBootimages(start + 1)]).toEqual(['image-1'])
    leases.end(bootId('a'))
    expect([...leases.leasedBootimages(start + longestBootAttemptMs + 1)]).toEqual([])
    expect(leases.size).toBe(0)
    leases.start(attempt('b', 'image-1', start + longestBootAttemptMs))
    expect([...leases.leasedBootimages(start + longestBootAttemptMs)]).toEqual(['image-1'])
  })

  it('that has ended leaves nothing behind when there are too many', () => {
    const leases = createLeases({ maximum: 16 })
    leases.start(attempt('a', 'image-1'))
    leases.end(bootId('a'))
    for (let number = 0; number < 16; number += 1) leases.start(attempt(`b${number}`, 'image-2', start + 1))
    expect(leases.attemptOf(bootId('a'))).toBeUndefined()
    expect([...leases.leasedBootimages(start + 1)]).toEqual(['image-2'])
  })

  it('is not shortened when the clock is set back', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.touch(bootId('a'), start - 5000)
    expect([...leases.leasedBootimages(start + longestBootAttemptMs - 1)]).toEqual(['image-1'])
  })

  it('G6 survives a clock that was set back between two boots: longer, never shorter', () => {
    const leases = createLeases()
    leases.start(attempt('late', 'image-1', start))
    leases.start(attempt('early', 'image-2', start - 1000))
    const early = start - 1000 + longestBootAttemptMs
    expect(leases.leasedBootimages(early - 1)).toEqual(new Set(['image-1', 'image-2']))
    expect(leases.leasedBootimages(start + longestBootAttemptMs)).toEqual(new Set())
  })

  it('G6 of one bootimage lasts as long as one of its boots', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.start(attempt('b', 'image-1', start + 10))
    leases.touch(bootId('a'), start + 5)
    expect([...leases.leasedBootimages(start + 5 + longestBootAttemptMs)]).toEqual(['image-1'])
    expect([...leases.leasedBootimages(start + 10 + longestBootAttemptMs)]).toEqual([])
  })

  it('frees what was silent and keeps what lives, whoever began first', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.start(attempt('b', 'image-2', start + 10))
    leases.touch(bootId('a'), start + 20)
    expect([...leases.leasedBootimages(start + 15 + longestBootAttemptMs)]).toEqual(['image-1'])
    expect(leases.size).toBe(1)
  })
})

describe('too many leases', () => {
  it('G6 merge the oldest ones: they are forgotten one by one, their bootimages are not', () => {
    const leases = createLeases({ maximum: 3 })
    leases.start(attempt('a', 'image-old', start))
    for (let index = 1; index <= 5; index += 1) leases.start(attempt(`b${index}`, 'image-new', start + index))
    expect(leases.size).toBe(3)
    expect(leases.merged).toBe(3)
    expect(leases.leasedBootimages(start + longestBootAttemptMs - 1)).toEqual(
      new Set(['image-old', 'image-new']),
    )
    expect([...leases.leasedBootimages(start + longestBootAttemptMs)]).toEqual(['image-new'])
  })

  it('drop those that are over before any that runs', () => {
    const leases = createLeases({ maximum: 2 })
    leases.start(attempt('a', 'image-1'))
    leases.start(attempt('b', 'image-2', start + longestBootAttemptMs))
    leases.start(attempt('c', 'image-3', start + longestBootAttemptMs))
    expect(leases.merged).toBe(0)
    expect(leases.size).toBe(2)
  })

  it('stay within the bound in a flood of a hundred thousand machines', () => {
    const leases = createLeases({ maximum: 1000 })
    for (let index = 0; index < 100_000; index += 1)
      leases.start(attempt(`m${index}`, 'image', start + index))
    expect(leases.size).toBeGreaterThan(900)
    expect(leases.size).toBeLessThanOrEqual(1000)
    expect(leases.takeUnsaved()).toHaveLength(leases.size)
  })
})

describe('batches for the store', () => {
  it('hold each attempt once, in its newest form', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.start(attempt('b', 'image-1'))
    leases.touch(bootId('a'), start + 1)
    leases.touch(bootId('a'), start + 2)
    const batch = leases.takeUnsaved()
    expect(batch.map(({ bootId: id, lastSeenAt }) => [id, lastSeenAt])).toEqual([
      [bootId('a'), start + 2],
      [bootId('b'), start],
    ])
    expect(leases.takeUnsaved()).toEqual([])
  })

  it('have a bound, and what is beyond it comes with the next one', () => {
    const leases = createLeases()
    for (const name of ['a', 'b', 'c']) leases.start(attempt(name, 'image-1'))
    leases.touch(bootId('a'), start + 1)
    const names = (batch: readonly BootLease[]) => batch.map(({ bootId: id }) => id)
    expect(names(leases.takeUnsaved(2))).toEqual([bootId('a'), bootId('b')])
    leases.touch(bootId('a'), start + 2)
    expect(names(leases.takeUnsaved(2))).toEqual([bootId('c'), bootId('a')])
    expect(leases.takeUnsaved(2)).toEqual([])
  })

  it('that could not be saved come again, without what is over', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1'))
    leases.start(attempt('b', 'image-1', start + 10))
    const batch = leases.takeUnsaved()
    leases.leasedBootimages(start + longestBootAttemptMs)
    leases.returnUnsaved(batch)
    expect(leases.takeUnsaved().map(({ bootId: id }) => id)).toEqual([bootId('b')])
  })
})

describe('after a restart', () => {
  it('G6 G7 what was saved leases again, except what is over', () => {
    const leases = createLeases()
    const now = start + longestBootAttemptMs
    leases.restore(
      { attempts: [attempt('young', 'image-2', now - 1), attempt('over', 'image-1', start)], leases: [] },
      now,
    )
    expect([...leases.leasedBootimages(now)]).toEqual(['image-2'])
    expect(leases.takeUnsaved()).toEqual([])
  })

  it('a boot that began before the restore keeps its newer form', () => {
    const leases = createLeases()
    leases.start(attempt('a', 'image-1', start + 10))
    leases.restore(
      { attempts: [attempt('a', 'image-1', start), attempt('b', 'image-2', start + 5)], leases: [] },
      start + 20,
    )
    expect([...leases.leasedBootimages(start + 5 + longestBootAttemptMs)]).toEqual(['image-1'])
    expect(leases.leasedBootimages(start + 10 + longestBootAttemptMs)).toEqual(new Set())
  })

  it('more than the bound are merged, not lost', () => {
    const leases = createLeases({ maximum: 1 })
    leases.restore(
      { attempts: [attempt('a', 'image-1', start), attempt('b', 'image-2', start + 1)], leases: [] },
      start + 2,
    )
    expect(leases.size).toBe(1)
    expect(leases.leasedBootimages(start + 3)).toEqual(new Set(['image-1', 'image-2']))
  })
})
