import { describe, expect, it } from 'vitest'
import { stepText } from '../../../src/core/boot-attempts/step-text.ts'
import { stepTone } from '../../../src/core/boot-attempts/step-tone.ts'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { stepsOfMachine } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
const mebibyte = 2 ** 20

const rows: readonly (readonly [string, 'normal' | 'good' | 'bad', BootEvent])[] = [
  ['DISCOVER from UEFI x86_64 firmware; offered snponly.efi', 'normal', one.offer(0)],
  [
    'DISCOVER from BIOS x86_64 firmware; offered undionly.kpxe',
    'normal',
    one.offer(0, { firmware: 'bios' }, { target: 'undionly.kpxe' }),
  ],
  [
    'DISCOVER from UEFI aarch64 firmware (HTTP Boot); offered http://192.0.2.10/loaders/ipxe-arm64.efi',
    'normal',
    one.offer(0, { arch: 'aarch64', via: 'http' }, { target: 'http://192.0.2.10/loaders/ipxe-arm64.efi' }),
  ],
  [
    'DISCOVER from UEFI x86_64 firmware; offered 192.0.2.51 and snponly.efi',
    'normal',
    one.offer(0, {}, { role: 'server', address: '192.0.2.51' }),
  ],
  [
    'REQUEST from UEFI x86_64 firmware; acknowledged 192.0.2.51 and snponly.efi',
    'normal',
    one.acknowledge(0, {}, { address: '192.0.2.51' }),
  ],
  [
    'REQUEST on port 4011 from UEFI x86_64 firmware; told snponly.efi',
    'normal',
    one.acknowledge(0, {}, { role: 'boot-server' }),
  ],
  ['DISCOVER from a loader; offered snponly.efi', 'normal', one.offer(0, { stage: 'other' })],
  [
    'DISCOVER from UEFI x86_64 firmware; left to boot from its disk',
    'normal',
    one.offer(0, {}, { decision: 'local', target: undefined }),
  ],
  ['DISCOVER from the machine; offered snponly.efi', 'normal', { ...one.offer(0), asked: undefined }],
  ['REQUEST from UEFI x86_64 firmware takes 192.0.2.51 of 192.0.2.1', 'normal', one.chooses(0)],
  [
    'REQUEST from UEFI x86_64 firmware; not answered: lease-unknown',
    'normal',
    one.chooses(0, {}, { chosen: undefined, reason: 'lease-unknown' }),
  ],
  ['It let a whole run of offers pass', 'bad', one.troubled(0, 'offers-unanswered')],
  ['snponly.efi asked for by TFTP', 'normal', one.tftpStart(0)],
  ['snponly.efi sent by TFTP, 244 KiB in 400 ms', 'normal', one.tftpEnd(0)],
  [
    'snponly.efi cut off by TFTP at 98 of 244 KiB; the machine says: disk full',
    'bad',
    one.tftpEnd(0, 'snponly.efi', { isWhole: false, sentBytes: 100_000, clientError: 'disk full' }),
  ],
  [
    'x.efi refused by TFTP: no such file',
    'normal',
    { type: 'tftp-refused', at: 0, address: one.address, file: 'x.efi', reason: 'no such file' },
  ],
  ['boot.ipxe sent, which asks who this machine is', 'normal', one.entry(0)],
  [
    'Told to run fcos-stable 44.20261129.3.0: follows stream fcos-stable: current is 44.20261129.3.0',
    'normal',
    one.decided(0, 1),
  ],
  [
    'Told to stop: held by an admin: broken fan',
    'bad',
    one.decided(0, 1, {
      kind: 'hold',
      bootimage: undefined,
      reasons: [{ code: 'mode-hold', facts: { why: 'broken fan' } }],
    }),
  ],
  ['rootfs 412 of 1021 MiB', 'normal', one.progress(0, 1, 'rootfs', 412, 1021)],
  [
    'rootfs sent, 1.4 GiB in 10 s, 143 MiB/s',
    'normal',
    one.sent(0, 1, 'rootfs', { sentBytes: 1434 * mebibyte, durationMs: 10_000 }),
  ],
  [
    'rootfs cut off at 10 of 100 MiB',
    'bad',
    one.sent(0, 1, 'rootfs', { sentBytes: 10 * mebibyte, completed: false }),
  ],
  ['kernel not sent: HTTP 503', 'bad', one.sent(0, 1, 'kernel', { status: 503, sentBytes: 0 })],
  ['rootfs looked at: 1000 MiB', 'normal', one.looks(0, 1, 'rootfs')],
  ['fedora-coreos-live-disk sent, 100 MiB in 1.0 s', 'normal', one.sent(0, 1, 'disk')],
  ['Ignition config sent to the installer', 'normal', one.ignition(0, 1, { system: 'installer' })],
  ['Ignition config refused: its token has expired', 'bad', one.refused(0, 1)],
  ['Reports booted 44.20261129.3.0', 'good', one.report(0, 1)],
  [
    'Reports failed: no disk \\x1b[31m',
    'bad',
    one.report(0, 1, { status: 'failed', osVersion: undefined, message: 'no disk \u001b[31m' }),
  ],
  ['It is stuck.', 'bad', { type: 'diagnosed', at: 0, code: 'overdue', text: 'It is stuck.' }],
]

describe('a step in words', () => {
  it.each(rows)('%s', (text, tone, event) => {
    expect(stepText(event)).toBe(text)
    expect(stepTone(event)).toBe(tone)
  })

  it('tells the rate of a transfer where it is known', () => {
    expect(stepText(one.progress(0, 1, 'rootfs', 412, 1021), { bytesPerSecond: 38 * mebibyte })).toBe(
      'rootfs 412 of 1021 MiB, 38 MiB/s',
    )
  })
})
