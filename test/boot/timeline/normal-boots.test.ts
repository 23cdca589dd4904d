import { describe, expect, it } from 'vitest'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import { goodBoot, stepsOfMachine, testStart } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
const ipxe = (xid: number) => ({ stage: 'ipxe', xid }) as const
const bios = { firmware: 'bios' } as const
const arm = { arch: 'aarch64' } as const
const given = { role: 'server', address: one.address } as const
const mebibyte = 2 ** 20

/** From the first file to the report, in the order of a live CoreOS. */
function system(start: number, id: number): readonly BootEvent[] {
  return [
    one.progress(start, id, 'kernel', 0, 14),
    one.sent(start + 0.6, id, 'kernel'),
    one.progress(start + 0.7, id, 'initramfs', 0, 90),
    one.progress(start + 1.7, id, 'initramfs', 60, 90),
    one.sent(start + 2.4, id, 'initramfs'),
    one.looks(start + 14, id, 'rootfs'),
    one.progress(start + 14.1, id, 'rootfs', 0),
    one.progress(start + 15.1, id, 'rootfs', 110),
    one.sent(start + 23, id, 'rootfs'),
    one.ignition(start + 25, id),
    one.report(start + 60, id),
  ]
}

/** What each client does when all is well, as emulated firmware was seen to do it. */
const boots: readonly (readonly [string, readonly string[], readonly BootEvent[]])[] = [
  ["UEFI by PXE beside the site's server", ['booted'], goodBoot(one, 0, 1)],
  [
    'UEFI by PXE, ours is the DHCP server',
    ['booted'],
    [
      one.offer(0, {}, given),
      one.acknowledge(4, {}, given),
      {
        ...one.tftpEnd(4.3, 'snponly.efi', {
          isWhole: false,
          sentBytes: 0,
          role: 'loader',
          clientError: 'User aborted the transfer',
        }),
      },
      one.tftpStart(4.4),
      one.tftpEnd(5),
      one.offer(7, ipxe(2), given),
      one.acknowledge(10, ipxe(2), given),
      one.entry(11),
      one.decided(11.2, 1),
      ...system(11.4, 1),
    ],
  ],
  [
    'UEFI that asks port 4011',
    ['booted'],
    [
      one.offer(0),
      one.chooses(4),
      one.acknowledge(4.2, { xid: 9 }, { role: 'boot-server' }),
      one.tftpStart(4.4),
      one.tftpEnd(5),
      one.entry(11),
      one.decided(11.2, 1),
      ...system(11.4, 1),
    ],
  ],
  [
    'BIOS with iPXE in its ROM',
    ['booted'],
    [
      one.offer(0, { ...ipxe(1), ...bios }),
      one.offer(1, { ...ipxe(1), ...bios }),
      one.chooses(4, { ...ipxe(1), ...bios }),
      one.entry(4.5),
      one.decided(4.7, 1, { firmware: 'bios' }),
      ...system(5, 1),
    ],
  ],
  [
    'BIOS by UNDI, at its speed',
    ['booted'],
    [
      one.offer(0, bios),
      one.chooses(3, bios),
      one.tftpStart(3.5, 'undionly.kpxe'),
      one.tftpEnd(7, 'undionly.kpxe'),
      one.offer(12, { ...ipxe(2), ...bios }),
      one.chooses(15, { ...ipxe(2), ...bios }),
      one.entry(17),
      one.decided(18, 1, { firmware: 'bios' }),
      ...system(20, 1),
    ],
  ],
  [
    'UEFI by HTTP Boot',
    ['booted'],
    [
      one.offer(0, { via: 'http' }),
      one.chooses(4, { via: 'http' }),
      one.sent(4.2, 0, 'loader', { bootId: undefined, method: 'HEAD', sentBytes: 0 }),
      one.sent(4.9, 0, 'loader', { bootId: undefined, loaderArch: 'x86_64' }),
      one.offer(7, ipxe(2)),
      one.chooses(10, ipxe(2)),
      one.entry(11),
      one.decided(11.2, 1),
      ...system(11.4, 1),
    ],
  ],
  [
    'arm64, whose PXE got nothing before HTTP Boot',
    ['booted'],
    [
      ...[0, 4, 12].map((seconds) => one.offer(seconds, arm)),
      one.offer(30, { via: 'http', xid: 2, ...arm }),
      one.chooses(34, { via: 'http', xid: 2, ...arm }),
      one.sent(35, 0, 'loader', { bootId: undefined, loaderArch: 'aarch64' }),
      one.entry(40),
      one.decided(41, 1, { arch: 'aarch64' }),
      ...system(42, 1),
    ],
  ],
  [
    'Secure Boot: shim, GRUB, its modules, its configuration, files by HTTP',
    ['booted'],
    [
      one.offer(0),
      one.chooses(4),
      one.tftpEnd(5, 'debian/shimx64.efi'),
      {
        type: 'tftp-refused',
        at: testStart + 5500,
        mac: one.mac,
        address: one.address,
        file: 'debian/revocations.efi',
        reason: 'no such file',
      },
      one.tftpEnd(6, 'debian/grubx64.efi'),
      one.tftpEnd(7, 'grub/x86_64-efi/command.lst', { role: 'other', isWhole: true, loaderArch: undefined }),
      one.entry(8, 'grub.cfg'),
      one.decided(9, 1, { loader: 'grub' }),
      one.sent(9.2, 1, 'kernel', { method: 'HEAD', sentBytes: 0 }),
      ...system(9.5, 1),
    ],
  ],
  [
    'PXELINUX with everything by TFTP',
    ['booted'],
    [
      one.offer(0, bios),
      one.chooses(3, bios),
      one.tftpEnd(4, 'pxelinux.0', { loaderArch: undefined }),
      one.decided(5, 1, { loader: 'pxelinux' }),
      one.tftpEnd(5.1, 'pxelinux.cfg/01-52-54-00-00-00-01', { role: 'script', loaderArch: undefined }),
      one.tftpStart(6, 'artifacts/0a/live-kernel-x86_64'),
      one.tftpEnd(30, 'artifacts/0a/live-kernel-x86_64', { role: 'artifact' }),
      one.tftpStart(31, 'artifacts/0b/live-initramfs.x86_64.img'),
      one.tftpEnd(400, 'artifacts/0b/live-initramfs.x86_64.img', { role: 'artifact' }),
      one.looks(430, 1, 'rootfs'),
      one.progress(431, 1, 'rootfs', 0),
      one.sent(440, 1, 'rootfs'),
      one.ignition(445, 1),
      one.report(500, 1),
    ],
  ],
  [
    'a rootfs that takes an hour',
    ['booted'],
    [
      one.decided(0, 1),
      one.sent(1, 1, 'kernel'),
      one.sent(2, 1, 'initramfs'),
      one.looks(20, 1, 'rootfs'),
      ...Array.from({ length: 3600 }, (_, second) => one.progress(20 + second, 1, 'rootfs', second / 4)),
      one.sent(3630, 1, 'rootfs'),
      one.ignition(3640, 1),
      one.report(3700, 1),
    ],
  ],
  [
    'a machine that waits for its release',
    ['booted'],
    [
      ...Array.from({ length: 40 }, (_, index) => [
        one.entry(index * 15),
        one.decided(index * 15 + 0.2, index, { kind: 'wait', expects: [], files: [] }),
      ]).flat(),
      one.entry(600),
      one.decided(600.2, 99),
      ...system(601, 99),
    ],
  ],
  [
    'an iPXE that is sent on to ours',
    ['booted'],
    [
      one.offer(0, ipxe(1)),
      one.chooses(4, ipxe(1)),
      one.entry(5),
      one.decided(5.2, 1, { kind: 'chainload', expects: [], files: [] }),
      one.sent(6, 0, 'loader', { bootId: undefined }),
      one.offer(8, ipxe(2)),
      one.chooses(11, ipxe(2)),
      one.entry(12),
      one.decided(12.2, 2),
      ...system(13, 2),
    ],
  ],
  [
    'nothing reports and nothing is configured',
    ['served'],
    [one.offer(0), one.tftpEnd(2), one.decided(5, 1, { expects: [] }), ...system(6, 1).slice(0, 9)],
  ],
  [
    'a rootfs that the loader fetches as well',
    ['served'],
    [
      one.decided(0, 1, { expects: ['ignition'] }),
      one.sent(1, 1, 'kernel'),
      one.sent(2, 1, 'initramfs'),
      one.sent(12, 1, 'rootfs'),
      one.ignition(60, 1),
    ],
  ],
  [
    'installed, restarted, and left to its disk',
    ['installed', 'local'],
    [
      one.offer(0),
      one.tftpEnd(2),
      one.decided(5, 1, { kind: 'install' }),
      ...system(6, 1).slice(0, 9),
      one.ignition(33, 1, { system: 'installer' }),
      one.report(900, 1, { status: 'installed' }),
      one.offer(1020, { xid: 7 }),
      one.tftpEnd(1025),
      one.entry(1027),
      one.decided(1028, 2, { kind: 'local', expects: [], files: [] }),
      one.ignition(1060, 1, { system: 'installed' }),
      one.report(1100, 1),
    ],
  ],
  [
    'an old installer with its disk image',
    ['installed'],
    [
      one.decided(0, 1, { kind: 'install', files: ['kernel', 'initramfs', 'disk'] }),
      one.sent(1, 1, 'kernel'),
      one.sent(2, 1, 'initramfs'),
      ...Array.from({ length: 60 }, (_, second) => one.progress(30 + second, 1, 'disk', second * 15)),
      one.sent(95, 1, 'disk'),
      one.ignition(100, 1, { system: 'installer' }),
      one.report(400, 1, { status: 'installed' }),
    ],
  ],
  [
    'left to its disk by DHCP alone',
    ['local'],
    [
      one.offer(0, {}, { decision: 'local', target: undefined }),
      one.offer(4, {}, { decision: 'local', target: undefined }),
    ],
  ],
]

/** Later by a factor; no gap gets longer than spanning tree and a slow disk make it. */
function slower(events: readonly BootEvent[], factor: number, longestGapMs: number): readonly BootEvent[] {
  let before = testStart
  let at = testStart
  return events.map((event) => {
    const gap = event.at - before
    before = event.at
    at += gap > longestGapMs ? gap : Math.min(gap * factor, longestGapMs)
    return { ...event, at }
  })
}

function play(events: readonly BootEvent[]) {
  const player = createBootPlayer()
  player.play(events)
  player.waitUntil((player.now() - testStart) / 1000 + 3 * 3600)
  return player
}

describe('a boot that goes as it should', () => {
  it.each(boots)('%s: ends as it does, and nothing is found wrong with it', (_, outcomes, events) => {
    const player = play(events)
    expect(player.diagnoses).toEqual([])
    expect(player.attempts().map(({ outcome }) => outcome)).toEqual(outcomes)
    expect(player.overs.map(({ outcome }) => outcome).toSorted()).toEqual(outcomes.toSorted())
  })

  it.each(boots)('%s: also ten times slower', (_, outcomes, events) => {
    const player = play(slower(events, 10, 70_000))
    expect(player.diagnoses).toEqual([])
    expect(player.attempts().map(({ outcome }) => outcome)).toEqual(outcomes)
  })

  it.each(boots)('%s: its phases follow each other without gaps', (_, _outcomes, events) => {
    for (const { phases, startedAt, endedAt, lastAt } of play(events).attempts()) {
      expect(phases[0]?.startedAt).toBe(startedAt)
      expect(phases.at(-1)?.endedAt).toBe(endedAt)
      expect(endedAt).toBeLessThanOrEqual(lastAt)
      for (const [index, { endedAt: end }] of phases.entries()) {
        if (index < phases.length - 1) expect(phases[index + 1]?.startedAt).toBe(end)
      }
    }
  })

  it('has its phases in their order, with what each took', () => {
    const [attempt] = play(goodBoot(one, 0, 1)).attempts()
    const spans = attempt?.phases.map(({ phase, startedAt, endedAt = 0 }) => [phase, endedAt - startedAt])
    expect(spans).toEqual([
      ['dhcp', 4200],
      ['loader', 5000],
      ['script', 300],
      ['kernel', 400],
      ['initramfs', 12_100],
      ['rootfs', 9000],
      ['ignition', 2000],
      ['system', 7000],
    ])
  })

  it('tells each step in plain words', () => {
    const [attempt] = play(goodBoot(one, 0, 1)).attempts()
    expect(attempt?.steps.map(({ phase, text }) => `${phase}: ${text}`)).toEqual([
      'dhcp: DISCOVER from UEFI x86_64 firmware; offered snponly.efi',
      'dhcp: REQUEST from UEFI x86_64 firmware takes 192.0.2.51 of 192.0.2.1',
      'loader: snponly.efi asked for by TFTP',
      'loader: snponly.efi sent by TFTP, 244 KiB in 400 ms',
      'loader: DISCOVER from iPXE; offered http://192.0.2.10/boot.ipxe',
      'loader: REQUEST from iPXE takes 192.0.2.51 of 192.0.2.1',
      'script: boot.ipxe sent, which asks who this machine is',
      'script: Told to run fcos-stable 44.20261129.3.0: follows stream fcos-stable: current is 44.20261129.3.0',
      'kernel: kernel sent, 100 MiB in 1.0 s',
      'initramfs: initramfs sent, 100 MiB in 1.0 s',
      'rootfs: rootfs looked at: 1000 MiB',
      'rootfs: rootfs sent, 1000 MiB in 8.9 s, 112 MiB/s',
      'ignition: Ignition config sent to the live system',
      'system: Reports booted 44.20261129.3.0',
    ])
  })

  it('shows how far a transfer is and how fast it goes', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 18))
    const [attempt] = player.attempts()
    expect(attempt).toMatchObject({ state: 'running', phase: 'rootfs' })
    expect(attempt?.transfer).toMatchObject({
      role: 'rootfs',
      sentBytes: 650 * mebibyte,
      totalBytes: 1000 * mebibyte,
      isDone: false,
    })
    expect(attempt?.transfer?.bytesPerSecond).toBeGreaterThan(100 * mebibyte)
    expect(attempt?.steps.at(-1)?.text).toMatch(/^rootfs 650 of 1000 MiB, 1\d\d MiB\/s$/)
  })
})
