import { describe, expect, it } from 'vitest'
import { createStrangers, strangerIn } from '../../src/boot/strangers.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import type { SeenMachine } from '../../src/core/fleet.ts'
import { reason } from '../../src/core/reason.ts'
import { mac, nodeMac, uuid } from '../fakes/machines.ts'

const macOf = (number: number) => mac(`52:54:00:00:00:${number.toString(16).padStart(2, '0')}`)
const minute = 60_000

describe('machines that no record matches', () => {
  it('are remembered with what they said last, also where they say less later', () => {
    const strangers = createStrangers()
    strangers.saw({
      mac: nodeMac,
      at: 1,
      serial: 'S1',
      arch: 'x86_64',
      address: '192.0.2.9',
      decision: 'ignore',
    })
    strangers.saw({ mac: nodeMac, at: 2 * minute, address: '192.0.2.10', serial: undefined })
    expect(strangers.list()).toEqual([
      {
        mac: nodeMac,
        firstSeenAt: 1,
        lastSeenAt: 2 * minute,
        count: 2,
        serial: 'S1',
        arch: 'x86_64',
        address: '192.0.2.10',
        decision: 'ignore',
      },
    ])
  })

  it('count once a boot, however many packets and scripts it has', () => {
    const strangers = createStrangers()
    for (const at of [0, 1_000, 20_000, minute]) strangers.saw({ mac: nodeMac, at })
    expect(strangers.list()[0]?.count).toBe(2)
  })

  it('that ask a hundred times a second are written down once a second, and at once when they say something else', () => {
    const strangers = createStrangers()
    const said = (at: number, address?: string) =>
      strangers.saw({ mac: nodeMac, at, decision: 'live', address })
    for (let at = 0; at < 1_000; at += 10) said(at)
    expect(strangers.list()).toMatchObject([{ lastSeenAt: 0, count: 1 }])
    said(1_000)
    expect(strangers.list()).toMatchObject([{ lastSeenAt: 1_000 }])
    said(1_001, '192.0.2.7')
    expect(strangers.list()).toMatchObject([{ lastSeenAt: 1_001, address: '192.0.2.7' }])
  })

  it('leave when there are too many, the longest silent first', () => {
    const strangers = createStrangers({ maximum: 16 })
    for (let number = 0; number < 16; number += 1) strangers.saw({ mac: macOf(number), at: number })
    strangers.saw({ mac: macOf(0), at: 2_000 })
    strangers.saw({ mac: macOf(16), at: 2_001 })
    const kept = strangers.list().map((machine) => machine.mac)
    expect(kept).toHaveLength(16)
    expect(kept.slice(0, 2)).toEqual([macOf(16), macOf(0)])
    expect(kept).not.toContain(macOf(1))
  })

  it('go to the store in batches, each once, and again when that failed', () => {
    const strangers = createStrangers()
    for (const number of [1, 2, 3]) strangers.saw({ mac: macOf(number), at: number })
    const batch = strangers.takeUnsaved(2)
    expect(batch.map((machine) => machine.mac)).toEqual([macOf(1), macOf(2)])
    strangers.forget([macOf(2)])
    strangers.returnUnsaved(batch)
    expect(strangers.takeUnsaved(10).map((machine) => machine.mac)).toEqual([macOf(3), macOf(1)])
    expect(strangers.takeUnsaved(10)).toEqual([])
  })

  it('of the last run come back behind those that are here already', () => {
    const strangers = createStrangers()
    strangers.saw({ mac: macOf(1), at: 50 })
    const saved = (number: number, lastSeenAt: number): SeenMachine => ({
      mac: macOf(number),
      firstSeenAt: 1,
      lastSeenAt,
      count: 7,
    })
    strangers.restore([saved(3, 40), saved(2, 30), saved(1, 20)])
    expect(strangers.list().map(({ mac: address, count }) => [address, count])).toEqual([
      [macOf(1), 1],
      [macOf(3), 7],
      [macOf(2), 7],
    ])
  })
})

describe('a boot step', () => {
  const why = reason('unknown-ignored')
  const decided: BootEvent = {
    type: 'decided',
    at: 5,
    bootId: 'A'.repeat(22) as BootId,
    kind: 'ignore',
    reason: why.code,
    reasons: [why],
    mac: nodeMac,
    uuid: uuid('4c4c4544-0042-4a10-8052-b4c04f4b3132'),
    arch: 'aarch64',
    firmware: 'uefi',
    address: '192.0.2.9',
  }

  it('of an unknown machine tells of it', () => {
    expect(strangerIn(decided)).toMatchObject({
      mac: nodeMac,
      at: 5,
      arch: 'aarch64',
      firmware: 'uefi',
      address: '192.0.2.9',
      decision: 'ignore',
    })
    expect(
      strangerIn({
        type: 'dhcp-answered',
        at: 6,
        mac: nodeMac,
        role: 'proxy',
        message: 'offer',
        decision: 'live',
      }),
    ).toMatchObject({ mac: nodeMac, at: 6, decision: 'live' })
  })

  it('of a host, or of nobody, tells of none', () => {
    expect(strangerIn({ ...decided, host: 'n01' })).toBeUndefined()
    expect(strangerIn({ ...decided, mac: undefined })).toBeUndefined()
  })
})
