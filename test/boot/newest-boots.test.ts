import { describe, expect, it } from 'vitest'
import { createNewestBoots } from '../../src/boot/newest-boots.ts'
import type { BootId } from '../../src/core/boot-event.ts'
import type { BootLease } from '../../src/core/boot-lease.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import type { MacAddress } from '../../src/core/mac.ts'

const id = (digit: string) => digit.repeat(22) as BootId
const mac = '52:54:00:ab:cd:ef' as MacAddress
const attempt = (bootId: BootId, startedAt: number, host?: string): BootLease => ({
  bootId,
  startedAt,
  lastSeenAt: startedAt,
  bootimage: 's/x86_64/1/0' as BootimageId,
  mac,
  ...(host === undefined ? {} : { host }),
})

describe('the newest boot of a machine', () => {
  it('is that of its host, whichever card asked, and that of its MAC where no host is known', () => {
    const boots = createNewestBoots()
    boots.note({ bootId: id('a'), host: 'n01', mac, startedAt: 1 })
    boots.note({ bootId: id('b'), host: 'n01', startedAt: 1 })
    boots.note({ bootId: id('c'), mac, startedAt: 1 })
    boots.note({ bootId: id('d'), startedAt: 1 })
    expect(boots.newestOf({ host: 'n01', mac })).toBe(id('b'))
    expect(boots.newestOf({ mac })).toBe(id('c'))
    expect(boots.newestOf({ host: 'n02' })).toBeUndefined()
    expect(boots.newestOf({})).toBeUndefined()
  })

  it('comes back after a restart, and what was answered since is newer', () => {
    const boots = createNewestBoots()
    boots.note({ bootId: id('n'), host: 'n02', startedAt: 1 })
    boots.restore([attempt(id('b'), 2, 'n01'), attempt(id('a'), 1, 'n01'), attempt(id('o'), 9, 'n02')])
    expect(boots.newestOf({ host: 'n01' })).toBe(id('b'))
    expect(boots.newestOf({ host: 'n02' })).toBe(id('n'))
  })

  it('ends with any other script, for tokens that were issued before', () => {
    const boots = createNewestBoots()
    boots.end({ host: 'n01' }, 1)
    boots.note({ bootId: id('a'), host: 'n01', mac, startedAt: 2 })
    expect(boots.hasEnded({ host: 'n01' }, 2)).toBe(false)
    boots.end({ host: 'n01', mac }, 5)
    expect([5, 6].map((issuedAt) => boots.hasEnded({ host: 'n01' }, issuedAt))).toEqual([true, false])
    expect(boots.newestOf({ host: 'n01' })).toBe(id('a'))
    boots.note({ bootId: id('b'), host: 'n01', mac, startedAt: 6 })
    expect(boots.hasEnded({ host: 'n01' }, 6)).toBe(false)
  })

  it('is forgotten for the machine that booted longest ago when there are too many', () => {
    const boots = createNewestBoots(2)
    for (const host of ['n01', 'n02', 'n01', 'n03']) boots.note({ bootId: id('a'), host, startedAt: 1 })
    expect(boots.newestOf({ host: 'n02' })).toBeUndefined()
    expect(boots.newestOf({ host: 'n01' })).toBe(id('a'))
  })

  it('supersedes tokens that were issued before it began, not those of a boot that a crash lost', () => {
    const boots = createNewestBoots()
    boots.restore([attempt(id('a'), 100, 'n01')])
    expect(boots.isSuperseded({ host: 'n01' }, id('o'), 99)).toBe(true)
    expect(boots.isSuperseded({ host: 'n01' }, id('o'), 100)).toBe(true)
    expect(boots.isSuperseded({ host: 'n01' }, id('l'), 101)).toBe(false)
    expect(boots.isSuperseded({ host: 'n01' }, id('a'), 50)).toBe(false)
    expect(boots.isSuperseded({ host: 'n02' }, id('o'), 1)).toBe(false)
  })
})
