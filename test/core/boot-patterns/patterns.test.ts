import { describe, expect, it } from 'vitest'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { bootPatternCodes } from '../../../src/core/boot-pattern.ts'
import { bootPatternInfos } from '../../../src/core/boot-patterns/patterns.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import { goodBoot, type MachineSteps, stepsOfMachine } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
const two = stepsOfMachine({ number: 2, host: 'n02' })
const stranger = stepsOfMachine({ number: 3 })

/** What is told, and after how many seconds, if nothing else comes until then. */
function shown(events: readonly BootEvent[], untilSeconds: number): readonly string[] {
  const player = createBootPlayer()
  player.play(events)
  player.waitUntil(untilSeconds)
  return player.diagnoses.map(({ code }) => code)
}

const discovers = (machine: MachineSteps, more: Partial<Parameters<MachineSteps['offer']>[2]> = {}) =>
  [0, 4, 12, 28].map((seconds) => machine.offer(seconds, {}, more))
const served = { role: 'server', address: one.address } as const
const upTo = (count: number) => goodBoot(one, 0, 1).slice(0, count)
/** With nothing of the rootfs yet. */
const kernelOnly = upTo(12)
const withRootfs = upTo(19)
const httpAsks = { via: 'http', xid: 5 } as const
const local = (seconds: number, id: number) => [
  one.offer(seconds, { xid: id }),
  one.decided(seconds + 5, id, { kind: 'local', expects: [], files: [] }),
]
const cutRootfs = (seconds: number) =>
  one.sent(seconds, 1, 'rootfs', { completed: false, sentBytes: 2 ** 28, totalBytes: 2 ** 30 })

interface Row {
  readonly when: string
  readonly events: readonly BootEvent[]
  /** Seconds after the start. */
  readonly until: number
  readonly shows: readonly string[]
}

const rows: readonly Row[] = [
  // offer-not-followed, field cases 4 and 5
  { when: 'four offers by proxy pass', events: discovers(one), until: 70, shows: ['offer-not-followed'] },
  { when: 'the last of four offers may still be taken', events: discovers(one), until: 60, shows: [] },
  {
    when: 'four offers by proxy pass and the fifth is taken',
    events: [...discovers(one), one.chooses(60), one.tftpStart(61)],
    until: 120,
    shows: [],
  },
  {
    when: 'three offers are not followed for long',
    events: [one.offer(0), one.offer(4), one.offer(12)],
    until: 110,
    shows: ['offer-not-followed'],
  },
  {
    when: 'it asked once and was switched off',
    events: [
      one.offer(0),
      two.offer(29),
      two.chooses(30),
      two.tftpStart(31),
      two.tftpEnd(32),
      two.decided(33, 2),
    ],
    until: 140,
    shows: [],
  },
  {
    when: 'four offers of ours as DHCP server pass',
    events: discovers(one, served),
    until: 70,
    shows: ['offer-not-followed'],
  },
  {
    when: 'an address is taken elsewhere and nothing is fetched',
    events: [one.offer(0), one.chooses(4)],
    until: 60,
    shows: ['offer-not-followed'],
  },
  {
    when: 'an address is taken elsewhere and the loader follows',
    events: [one.offer(0), one.chooses(4), one.tftpStart(40), one.tftpEnd(41)],
    until: 60,
    shows: [],
  },
  {
    when: 'we gave an address and nothing is fetched',
    events: [one.offer(0, {}, served), one.acknowledge(4, {}, served)],
    until: 120,
    shows: ['offer-not-followed'],
  },
  {
    when: 'DHCP leaves it to its disk',
    events: discovers(one, { decision: 'local' }),
    until: 300,
    shows: [],
  },
  // offers-not-merged, field case 5
  {
    when: 'four offers pass where another machine got its address from the site',
    events: [...discovers(one), two.offer(29), two.chooses(30), two.tftpStart(31)],
    until: 75,
    shows: ['offers-not-merged'],
  },
  {
    when: 'the machine itself got its address from the site',
    events: [...discovers(one), one.chooses(30)],
    until: 80,
    shows: ['offer-not-followed'],
  },
  {
    when: 'we are the DHCP server and another machine chose another',
    events: [...discovers(one, served), two.offer(29), two.chooses(30), two.tftpStart(31)],
    until: 75,
    shows: ['offer-not-followed'],
  },
  // boot-server-type-zero
  {
    when: 'it asks port 4011 for type 0 and fetches nothing',
    events: [
      one.offer(0),
      one.chooses(4),
      one.acknowledge(5, { xid: 9, bootServerType: 0 }, { role: 'boot-server' }),
    ],
    until: 60,
    shows: ['boot-server-type-zero'],
  },
  {
    when: 'it asks port 4011 for type 0 and goes on',
    events: [
      one.offer(0),
      one.chooses(4),
      one.acknowledge(5, { xid: 9, bootServerType: 0 }, { role: 'boot-server' }),
      one.tftpStart(6),
      one.tftpEnd(7),
    ],
    until: 60,
    shows: [],
  },
  {
    when: 'it asks port 4011 without a type and fetches nothing',
    events: [one.offer(0), one.acknowledge(5, { xid: 9 }, { role: 'boot-server' })],
    until: 120,
    shows: ['offer-not-followed'],
  },
  // http-client-without-url, field cases 51 and 52
  {
    when: 'HTTP Boot takes the offer of another server',
    events: [one.offer(0, httpAsks), one.chooses(4, httpAsks)],
    until: 60,
    shows: ['http-client-without-url'],
  },
  {
    when: 'HTTP Boot takes an address elsewhere and our URL',
    events: [
      one.offer(0, httpAsks),
      one.chooses(4, httpAsks),
      one.sent(5, 0, 'loader', { bootId: undefined }),
    ],
    until: 60,
    shows: [],
  },
  {
    when: 'PXE after HTTP Boot is another run',
    events: [
      one.offer(0, httpAsks),
      one.chooses(4, httpAsks),
      one.offer(30, { xid: 6 }),
      one.chooses(34),
      one.tftpStart(35),
    ],
    until: 60,
    shows: [],
  },
  // loader-of-wrong-architecture, field case 14
  {
    when: 'the loader is for another processor',
    events: [one.offer(0), one.tftpEnd(5, 'snponly.efi', { loaderArch: 'aarch64' })],
    until: 20,
    shows: ['loader-of-wrong-architecture'],
  },
  {
    when: 'the loader says nothing of its processor',
    events: [one.offer(0), one.tftpEnd(5, 'snponly.efi', { loaderArch: undefined })],
    until: 100,
    shows: [],
  },
  {
    when: 'a loader for another processor was fetched in part',
    events: [one.offer(0), one.tftpEnd(5, 'snponly.efi', { loaderArch: 'aarch64', isWhole: false })],
    until: 100,
    shows: [],
  },
  {
    when: 'the loader for another processor ran all the same',
    events: [one.offer(0), one.tftpEnd(5, 'snponly.efi', { loaderArch: 'aarch64' }), one.entry(7)],
    until: 100,
    shows: [],
  },
  // loader-loop, field cases 16 and 17
  {
    when: 'one loader three times in one boot',
    events: [
      one.offer(0),
      one.tftpEnd(5),
      one.offer(15, { xid: 2 }),
      one.tftpEnd(20),
      one.offer(30, { xid: 3 }),
      one.tftpEnd(35),
    ],
    until: 50,
    shows: ['loader-loop'],
  },
  {
    when: 'one loader in boot after boot',
    events: [0, 100, 200].flatMap((seconds) => [
      one.offer(seconds, { xid: seconds }),
      one.tftpEnd(seconds + 5),
    ]),
    until: 220,
    shows: ['loader-loop'],
  },
  {
    when: 'DHCP says that it goes round',
    events: [one.offer(0), one.tftpEnd(5), one.troubled(6, 'loop-suspected')],
    until: 20,
    shows: ['loader-loop'],
  },
  {
    when: 'shim, GRUB and its modules are three loaders',
    events: [
      one.offer(0),
      one.tftpEnd(5, 'shimx64.efi'),
      one.tftpEnd(6, 'grubx64.efi'),
      one.tftpEnd(7, 'fbx64.efi'),
    ],
    until: 60,
    shows: [],
  },
  {
    when: 'PXE and HTTP Boot fetched it once each',
    events: [
      one.offer(0),
      one.tftpEnd(5),
      one.offer(30, httpAsks),
      one.sent(35, 0, 'loader', { bootId: undefined }),
    ],
    until: 60,
    shows: [],
  },
  {
    when: 'good boots came before',
    events: [
      ...goodBoot(one, 0, 1),
      ...goodBoot(one, 100, 2),
      ...goodBoot(one, 200, 3),
      one.offer(300, { xid: 300 }),
      one.tftpEnd(305),
    ],
    until: 330,
    shows: [],
  },
  // script-not-fetched, field case 125
  {
    when: 'the loader is whole and silent',
    events: [one.offer(0), one.tftpEnd(5)],
    until: 190,
    shows: ['script-not-fetched'],
  },
  {
    when: 'the loader asked for an address and is silent',
    events: [one.offer(0), one.tftpEnd(5), one.offer(9, { stage: 'ipxe', xid: 2 })],
    until: 195,
    shows: ['script-not-fetched'],
  },
  {
    when: 'spanning tree holds the link back for 70 s',
    events: [
      one.offer(0),
      one.tftpEnd(5),
      one.offer(76, { stage: 'ipxe', xid: 2 }),
      one.entry(80),
      one.decided(81, 1),
    ],
    until: 90,
    shows: [],
  },
  // silent-after-kernel, field cases 110 and 138
  {
    when: 'kernel and initramfs and then silence',
    events: kernelOnly,
    until: 315,
    shows: ['silent-after-kernel'],
  },
  { when: 'the kernel and then silence', events: upTo(10), until: 170, shows: ['silent-after-kernel'] },
  {
    when: 'a slow machine takes four minutes to its rootfs',
    events: [...kernelOnly, one.looks(250, 1, 'rootfs'), one.progress(250.5, 1, 'rootfs', 0)],
    until: 255,
    shows: [],
  },
  {
    when: 'its initramfs is all it needs, and nothing reports',
    events: [
      one.decided(0, 1, { files: ['kernel', 'initramfs'], expects: [] }),
      one.sent(1, 1, 'kernel'),
      one.sent(2, 1, 'initramfs'),
    ],
    until: 3000,
    shows: [],
  },
  // rootfs-only-looked-at
  {
    when: 'the rootfs is looked at every five seconds',
    events: [
      ...kernelOnly,
      ...Array.from({ length: 12 }, (_, index) => one.looks(22 + index * 5, 1, 'rootfs')),
    ],
    until: 80,
    shows: ['rootfs-only-looked-at'],
  },
  {
    when: 'the rootfs is looked at once and never fetched',
    events: [...kernelOnly, one.looks(22, 1, 'rootfs')],
    until: 330,
    shows: ['rootfs-only-looked-at'],
  },
  {
    when: 'the rootfs is looked at twice and then fetched',
    events: [
      ...kernelOnly,
      one.looks(22, 1, 'rootfs'),
      one.looks(27, 1, 'rootfs'),
      one.progress(27.1, 1, 'rootfs', 0),
    ],
    until: 90,
    shows: [],
  },
  // rootfs-cut-off, field case 130
  {
    when: 'the rootfs breaks off',
    events: [...kernelOnly, one.looks(22, 1, 'rootfs'), one.progress(22.1, 1, 'rootfs', 0), cutRootfs(30)],
    until: 65,
    shows: ['rootfs-cut-off'],
  },
  {
    when: 'the rootfs breaks off and goes on',
    events: [
      ...kernelOnly,
      one.progress(22.1, 1, 'rootfs', 0),
      cutRootfs(30),
      one.progress(35, 1, 'rootfs', 0),
    ],
    until: 65,
    shows: [],
  },
  {
    when: 'the rest of the rootfs is fetched',
    events: [
      ...kernelOnly,
      one.progress(22.1, 1, 'rootfs', 0),
      cutRootfs(30),
      one.sent(40, 1, 'rootfs', {
        status: 206,
        fromBytes: 2 ** 28,
        sentBytes: 3 * 2 ** 28,
        totalBytes: 2 ** 30,
      }),
      one.ignition(45, 1),
    ],
    until: 90,
    shows: [],
  },
  // ignition-not-fetched, field case 129
  {
    when: 'the rootfs is there and no config is asked for',
    events: withRootfs,
    until: 340,
    shows: ['ignition-not-fetched'],
  },
  {
    when: 'the token of its config is refused',
    events: [...withRootfs, one.refused(33, 1)],
    until: 45,
    shows: ['ignition-not-fetched'],
  },
  {
    when: 'the token is refused once and then taken',
    events: [...withRootfs, one.refused(33, 1), one.ignition(35, 1)],
    until: 60,
    shows: [],
  },
  {
    when: 'it reports with the token that its config alone holds, and the fetch was not seen',
    events: [...withRootfs, one.refused(38, 1), one.report(40, 1)],
    until: 45,
    shows: [],
  },
  {
    when: 'there is no config for it',
    events: [
      one.decided(0, 1, { expects: [] }),
      one.sent(1, 1, 'kernel'),
      one.sent(2, 1, 'initramfs'),
      one.sent(20, 1, 'rootfs'),
    ],
    until: 3000,
    shows: [],
  },
  // no-report
  { when: 'it has everything and does not report', events: upTo(20), until: 940, shows: ['no-report'] },
  {
    when: 'an installer takes half an hour',
    events: upTo(20).map((event) =>
      event.type === 'decided' ? { ...event, kind: 'install' as const } : event,
    ),
    until: 1800,
    shows: [],
  },
  // reports-another-release, field case 130
  {
    when: 'it reports another release',
    events: [...upTo(20), one.report(40, 1, { osVersion: '43.20260601.3.0' })],
    until: 45,
    shows: ['reports-another-release'],
  },
  {
    when: 'it reports something that is no release',
    events: [...upTo(20), one.report(40, 1, { osVersion: 'Debian 12' })],
    until: 45,
    shows: [],
  },
  {
    when: 'an installed system has updated itself',
    events: [
      one.decided(0, 1, { kind: 'install' }),
      one.ignition(20, 1, { system: 'installer' }),
      one.report(30, 1, { status: 'installed' }),
      one.report(300, 1, { osVersion: '45.20270101.3.0' }),
    ],
    until: 310,
    shows: [],
  },
  // returns-although-local, field case 123
  {
    when: 'it comes back three times in ten minutes',
    events: [...local(0, 1), ...local(200, 2), ...local(400, 3)],
    until: 420,
    shows: ['returns-although-local'],
  },
  { when: 'it comes back twice', events: [...local(0, 1), ...local(200, 2)], until: 420, shows: [] },
  {
    when: 'it is started once an hour',
    events: [...local(0, 1), ...local(3600, 2), ...local(7200, 3)],
    until: 7300,
    shows: [],
  },
  {
    when: 'it ran between',
    events: [...local(0, 1), ...goodBoot(one, 100, 2), ...local(300, 3), ...local(500, 4)],
    until: 520,
    shows: [],
  },
  // overdue
  {
    when: 'a script is fetched and then nothing',
    events: [one.offer(0), one.tftpEnd(5), one.entry(7), one.decided(8, 1)],
    until: 170,
    shows: ['overdue'],
  },
  {
    when: 'a script is asked for and nothing else, as people do with curl',
    events: [one.decided(0, 1), one.decided(20, 2)],
    until: 3000,
    shows: [],
  },
  {
    when: 'DHCP of a machine that nobody knows, three times',
    events: [0, 4, 12].map((seconds) => stranger.offer(seconds)),
    until: 1500,
    shows: [],
  },
  {
    when: 'DHCP of a machine that nobody knows, a whole run',
    events: [0, 4, 12, 28].map((seconds) => stranger.offer(seconds)),
    until: 140,
    shows: ['offer-not-followed'],
  },
  {
    when: 'a machine that waited asks no more',
    events: [one.decided(0, 1, { kind: 'wait' }), one.decided(15, 2, { kind: 'wait' })],
    until: 175,
    shows: ['overdue'],
  },
  {
    when: 'somebody who is no machine looks at the first script',
    events: [{ ...one.entry(0), address: '192.0.2.200' }],
    until: 500,
    shows: [],
  },
]

describe('what is wrong with a boot', () => {
  it.each(rows)('$when', ({ events, until, shows }) => {
    expect(shown(events, until)).toEqual(shows)
  })

  it('every pattern of the list is in the table, and shown by a row of this test', () => {
    expect(bootPatternInfos.map(({ code }) => code).toSorted()).toEqual([...bootPatternCodes].toSorted())
    const produced = new Set(rows.flatMap(({ shows }) => shows))
    expect(bootPatternCodes.filter((code) => !produced.has(code))).toEqual([])
  })

  it.each(bootPatternInfos)(
    '$code says what it looks like and what to do in whole sentences',
    ({ title, text, remedy, cases }) => {
      expect(title.length).toBeLessThan(50)
      for (const sentence of [text, remedy]) expect(sentence).toMatch(/^[A-Z].*\.$/s)
      expect(cases.length).toBeGreaterThan(0)
    },
  )

  it('tells with its own facts what was seen', () => {
    const player = createBootPlayer()
    player.play([...kernelOnly, one.progress(22, 1, 'rootfs', 0), cutRootfs(30)])
    player.waitUntil(65)
    expect(player.attempts()[0]?.diagnosis).toMatchObject({
      code: 'rootfs-cut-off',
      text: 'The rootfs broke off at 256 of 1024 MiB, and nothing went on.',
    })
    expect(player.attempts()[0]?.state).toBe('stuck')
  })

  it('is taken back when the boot goes on after all, and stays among the steps', () => {
    const player = createBootPlayer()
    player.play(kernelOnly)
    player.waitUntil(320)
    expect(player.attempts()[0]).toMatchObject({ state: 'stuck', diagnosis: { code: 'silent-after-kernel' } })
    player.play([one.looks(330, 1, 'rootfs')])
    expect(player.attempts()[0]).toMatchObject({ state: 'running', diagnosis: undefined })
    const told = player.attempts()[0]?.steps.filter(({ type }) => type === 'diagnosed')
    expect(told).toMatchObject([{ tone: 'bad', count: 1, phase: 'initramfs' }])
  })

  it('stays with a boot that ends without a word', () => {
    const player = createBootPlayer()
    player.play(kernelOnly)
    player.waitUntil(3 * 3600)
    expect(player.attempts()[0]).toMatchObject({
      outcome: 'lost',
      diagnosis: { code: 'silent-after-kernel' },
    })
    expect(player.diagnoses).toHaveLength(1)
  })
})
