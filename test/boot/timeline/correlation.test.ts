import { describe, expect, it } from 'vitest'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import { bootIdNumber, goodBoot, macNumber, stepsOfMachine } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
/** The other card of the same host. */
const other = stepsOfMachine({ number: 2, host: 'n01' })
const stranger = stepsOfMachine({ number: 9 })

function outcomes(...events: readonly BootEvent[]): readonly (string | undefined)[] {
  const player = createBootPlayer()
  player.play(events)
  return player.attempts().map(({ outcome }) => outcome ?? 'open')
}

const live = (seconds: number, id: number) => [
  one.decided(seconds, id),
  one.sent(seconds + 1, id, 'kernel'),
  one.sent(seconds + 2, id, 'initramfs'),
]
const firmwareIs = { stage: 'ipxe', xid: 70 } as const

/** Which events are one boot and which begin another: the attempts that come of it, oldest first. */
const rows: readonly (readonly [string, readonly string[], readonly BootEvent[]])[] = [
  ['a whole boot by PXE is one', ['booted'], goodBoot(one, 0, 1)],
  ['DISCOVER sent again is one', ['open'], [one.offer(0), one.offer(4), one.offer(12), one.offer(28)]],
  [
    'HTTP Boot after PXE found nothing is one',
    ['open'],
    [one.offer(0), one.offer(4), one.offer(70, { via: 'http', xid: 2 })],
  ],
  [
    'HTTP Boot after a loader that did not start is one',
    ['open'],
    [one.offer(0), one.tftpEnd(1), one.offer(90, { via: 'http', xid: 2 })],
  ],
  [
    'PXE again half a minute after its loader is another',
    ['superseded', 'open'],
    [one.offer(0), one.tftpEnd(1), one.offer(60, { xid: 2 })],
  ],
  [
    'PXE again at once after its loader is a retry',
    ['open'],
    [one.offer(0), one.tftpEnd(1), one.offer(20, { xid: 2 })],
  ],
  [
    'PXE after a loader that broke off is one',
    ['open'],
    [one.offer(0), one.tftpEnd(1, 'snponly.efi', { isWhole: false }), one.offer(60, { xid: 2 })],
  ],
  [
    'a late packet of the same run is one',
    ['open'],
    [one.offer(0), one.tftpEnd(5), one.entry(6), one.offer(7)],
  ],
  [
    'DISCOVER of firmware after a script is another',
    ['superseded', 'open'],
    [one.offer(0), one.decided(5, 1), one.offer(60, { xid: 2 })],
  ],
  [
    'DISCOVER after the end is another',
    ['booted', 'open'],
    [...goodBoot(one, 0, 1), one.offer(300, { xid: 2 })],
  ],
  ['DISCOVER after ten silent minutes is another', ['lost', 'open'], [one.offer(0), one.offer(700)]],
  [
    'the DISCOVER of a chainloaded iPXE goes on',
    ['open'],
    [one.offer(0), one.tftpEnd(1), one.offer(3, { stage: 'ipxe', xid: 2 }), one.decided(5, 1)],
  ],
  ['an iPXE that is the firmware begins', ['open'], [one.offer(0, firmwareIs), one.entry(2), ...live(3, 1)]],
  [
    'an iPXE that is the firmware begins again after its boot fetched its files',
    ['superseded', 'open'],
    [one.offer(0, firmwareIs), ...live(3, 1), one.offer(60, { ...firmwareIs, xid: 71 })],
  ],
  [
    'an iPXE whose network failed asks again for the same boot',
    ['open'],
    [
      one.offer(0, firmwareIs),
      one.decided(3, 1),
      one.sent(4, 1, 'kernel', { completed: false }),
      one.offer(30, { ...firmwareIs, xid: 71 }),
      one.decided(33, 2),
    ],
  ],
  [
    'a machine that waits goes on for hours',
    ['open'],
    Array.from({ length: 500 }, (_, index) => one.decided(index * 15, index, { kind: 'wait', files: [] })),
  ],
  [
    'a machine that waited goes on when it is told to run',
    ['open'],
    [one.decided(0, 1, { kind: 'wait' }), ...live(15, 2)],
  ],
  [
    'a loader that is sent on to another goes on',
    ['open'],
    [
      one.decided(0, 1, { kind: 'chainload' }),
      one.sent(1, 0, 'loader', { bootId: undefined }),
      one.decided(9, 2),
    ],
  ],
  ['the script asked for again after four failed rounds goes on', ['open'], [...live(0, 1), ...live(90, 2)]],
  [
    'asked for much later, after the kernel was fetched, it is another',
    ['superseded', 'open'],
    [...live(0, 1), ...live(600, 2)],
  ],
  [
    'a system that runs already and asks again at once is another',
    ['superseded', 'open'],
    [...live(0, 1), one.looks(20, 1, 'rootfs'), one.decided(40, 2)],
  ],
  [
    'the second card after the first is the same boot',
    ['open'],
    [one.offer(0), other.offer(65, { xid: 2 }), other.tftpEnd(70), other.decided(75, 1)],
  ],
  [
    'the second card an hour later is another',
    ['lost', 'open'],
    [one.offer(0), other.offer(3600, { xid: 2 })],
  ],
  [
    'two cards whose host is known late are one boot',
    ['open'],
    [
      { ...one.offer(0), host: undefined },
      { ...other.offer(65, { xid: 2 }), host: undefined },
      one.decided(70, 1),
      other.decided(75, 2),
    ],
  ],
  ['sent to its disk, it is over', ['local'], [one.offer(0), one.decided(5, 1, { kind: 'local' })]],
  [
    'the network entries that are left after that are not boots',
    ['local'],
    [
      one.offer(0),
      one.decided(5, 1, { kind: 'local' }),
      one.offer(8, { via: 'http', xid: 2 }),
      one.offer(12, { via: 'http', xid: 2 }),
    ],
  ],
  [
    'the same entry again is one',
    ['local', 'open'],
    [one.offer(0), one.decided(5, 1, { kind: 'local' }), one.offer(60, { xid: 2 })],
  ],
  [
    'refused, and switched on again',
    ['held', 'open'],
    [one.offer(0), one.decided(5, 1, { kind: 'hold' }), one.offer(300, { xid: 2 })],
  ],
  [
    'TFTP alone begins, known by its address',
    ['open'],
    [
      { ...one.tftpStart(0), mac: undefined },
      { ...one.tftpEnd(1), mac: undefined },
    ],
  ],
  [
    'and is the boot of the card that is named later from there',
    ['open'],
    [
      { ...one.tftpStart(0), mac: undefined },
      { ...one.tftpEnd(1), mac: undefined },
      one.entry(3),
      one.decided(4, 1),
    ],
  ],
  [
    'also when DHCP had seen the card without its address',
    ['open'],
    [
      one.offer(0),
      { ...one.tftpStart(4), mac: undefined },
      { ...one.tftpEnd(5), mac: undefined },
      one.entry(6),
      one.decided(7, 1),
    ],
  ],
  [
    'a look at a loader begins nothing',
    [],
    [one.sent(0, 0, 'loader', { bootId: undefined, method: 'HEAD' })],
  ],
  ['a kernel for no boot begins nothing', [], [one.sent(0, 99, 'kernel')]],
  ['a token that nobody made begins nothing', [], [one.refused(0, undefined, 'forged')]],
  ['what DHCP left unanswered begins nothing', [], [one.chooses(0)]],
  ['a machine that is ignored begins nothing', [], [stranger.offer(0, {}, { decision: 'ignore' })]],
]

describe('which steps are one boot', () => {
  it.each(rows)('%s', (_, expected, events) => {
    expect(outcomes(...events)).toEqual(expected)
  })

  it('finds all boot ids of an attempt', () => {
    const player = createBootPlayer()
    player.play([one.decided(0, 1), one.decided(20, 2), one.sent(21, 1, 'kernel')])
    const [attempt] = player.attempts()
    expect(attempt?.bootIds).toEqual([bootIdNumber(1), bootIdNumber(2)])
    expect(player.timeline.attempt(bootIdNumber(1))?.id).toBe(attempt?.id)
    expect(player.timeline.attempt(attempt?.id ?? '')?.id).toBe(attempt?.id)
  })

  it('joins files without a boot id by the address that DHCP saw', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), one.chooses(3), { ...one.tftpEnd(5), mac: undefined }])
    expect(player.attempts()).toMatchObject([{ mac: one.mac, address: one.address, phase: 'loader' }])
  })

  it('gives an address that moved to its new machine', () => {
    const player = createBootPlayer()
    const next = stepsOfMachine({ number: 3, address: one.address })
    player.play([
      one.offer(0),
      one.chooses(3),
      next.offer(10),
      next.chooses(12),
      { ...one.tftpEnd(14), mac: undefined },
    ])
    expect(player.attempts().map(({ mac, phase }) => [mac, phase])).toEqual([
      [one.mac, 'dhcp'],
      [next.mac, 'loader'],
    ])
  })

  it('takes nothing of a boot that it does not know for the present one', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), one.decided(5, 1), one.refused(6, 77), one.sent(7, 78, 'kernel')])
    expect(player.attempts().map(({ steps }) => steps.map(({ type }) => type))).toEqual([
      ['dhcp-answered', 'decided'],
    ])
  })

  it('knows the files of a boot whose decision was lost in a crash by where they went', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), one.chooses(3), one.entry(5), one.sent(7, 78, 'kernel')])
    expect(player.attempts()).toMatchObject([{ mac: one.mac, phase: 'kernel' }])
  })

  it('keeps the boots of two hosts apart', () => {
    const player = createBootPlayer()
    const two = stepsOfMachine({ number: 4, host: 'n04' })
    const events = [...goodBoot(one, 0, 1), ...goodBoot(two, 0.05, 2)].sort((a, b) => a.at - b.at)
    player.play(events)
    expect(player.attempts()).toMatchObject([
      { host: 'n01', outcome: 'booted', mac: one.mac },
      { host: 'n04', outcome: 'booted', mac: two.mac },
    ])
    expect(player.attempts().map(({ steps }) => steps.length)).toEqual([14, 14])
  })

  it('a boot is of the card that its decision was for, and names the others that tried', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), ...goodBoot(other, 65, 2)])
    expect(player.attempts()).toMatchObject([{ mac: other.mac, otherMacs: [one.mac], outcome: 'booted' }])
    expect(player.overs).toMatchObject([{ mac: other.mac, otherMacs: [one.mac] }])
    const steps = player.attempts()[0]?.steps.map(({ text }) => text) ?? []
    expect(steps[0]).toMatch(new RegExp(`^${one.mac}: DISCOVER from `))
    expect(steps.find((text) => text.includes('Told to run'))).toMatch(new RegExp(`^${other.mac}: `))
    expect(player.timeline.of({ macs: [other.mac] })).toEqual(player.timeline.of({ macs: [one.mac] }))
  })

  it('until there is a decision it is of the card that was heard last', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), other.offer(65, { xid: 2 })])
    expect(player.attempts()).toMatchObject([{ mac: other.mac, otherMacs: [one.mac] }])
    player.play([one.offer(70)])
    expect(player.attempts()).toMatchObject([{ mac: one.mac, otherMacs: [other.mac] }])
  })

  it('what is tried after the decision does not change whose boot it is', () => {
    const player = createBootPlayer()
    player.play([one.offer(0), one.decided(5, 1, { kind: 'local' }), other.offer(8, { xid: 2 })])
    expect(player.attempts()).toMatchObject([{ mac: one.mac, otherMacs: [other.mac], outcome: 'local' }])
  })

  it('two boots that turn out to be one are of the card that was decided for', () => {
    const player = createBootPlayer()
    player.play([
      { ...one.offer(0), host: undefined },
      { ...other.offer(65, { xid: 2 }), host: undefined },
      one.decided(70, 1),
      other.decided(75, 2),
    ])
    expect(player.attempts()).toMatchObject([{ mac: other.mac, otherMacs: [one.mac] }])
  })

  it('with one card nothing is said of others', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1))
    const [attempt] = player.attempts()
    expect(attempt?.otherMacs).toBeUndefined()
    expect(attempt?.steps.filter(({ text }) => text.includes(one.mac))).toEqual([])
  })

  it('tells boots of a host by its id and by any of its cards, newest first', () => {
    const player = createBootPlayer()
    player.play([...goodBoot(one, 0, 1), ...goodBoot(other, 1000, 2)])
    const times = (boots: readonly { readonly startedAt: number }[]) =>
      boots.map(({ startedAt }) => startedAt)
    const byHost = times(player.timeline.of({ host: 'n01' }))
    expect(byHost).toHaveLength(2)
    expect(byHost[0]).toBeGreaterThan(byHost[1] ?? 0)
    expect(times(player.timeline.of({ macs: [one.mac] }))).toEqual(byHost)
    expect(times(player.timeline.of({ macs: [macNumber(77)] }))).toEqual([])
    expect([...player.timeline.newest()]).toHaveLength(1)
  })

  it('lets a late word count for a boot that was over', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, -1))
    player.waitUntil(3 * 3600)
    expect(player.attempts()).toMatchObject([{ outcome: 'lost' }])
    player.play([one.report(4 * 3600, 1)])
    expect(player.attempts()).toMatchObject([{ outcome: 'booted', state: 'over' }])
    expect(player.overs.map(({ outcome }) => outcome)).toEqual(['lost'])
  })

  it('lets a late word count for a boot that was superseded', () => {
    const player = createBootPlayer()
    player.play([...goodBoot(one, 0, 1).slice(0, -1), one.offer(100, { xid: 99 }), one.report(110, 1)])
    expect(player.attempts()).toMatchObject([{ outcome: 'booted' }, { state: 'running' }])
  })

  it('goes on with a boot that was taken for lost and is heard again', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 12))
    player.waitUntil(3 * 3600)
    expect(player.attempts()).toMatchObject([{ outcome: 'lost' }])
    player.play([one.looks(4 * 3600, 1, 'rootfs')])
    expect(player.attempts()).toMatchObject([{ state: 'running', outcome: undefined, phase: 'rootfs' }])
  })

  it('takes the word of a boot that it does not know for a boot of its own', () => {
    const player = createBootPlayer()
    player.play([one.decided(0, 2), one.report(1, 1)])
    expect(player.timeline.attempt(bootIdNumber(1))).toMatchObject({ outcome: 'booted', host: 'n01' })
    expect(player.timeline.attempt(bootIdNumber(2))).toMatchObject({ state: 'running' })
    expect([...player.timeline.newest()]).toMatchObject([{ state: 'running' }])
  })
})
