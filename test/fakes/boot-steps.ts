import type { BootEvent, BootId, DhcpQuestion } from '../../src/core/boot-event.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { parseMac } from '../../src/core/mac.ts'
import { reason } from '../../src/core/reason.ts'

/** Steps of a boot as the protocols tell them, each `seconds` after the start of the test's time. */

export const testStart = Date.UTC(2026, 10, 30, 12)
export const testRelease = '44.20261129.3.0'
const mebibyte = 2 ** 20

export function macNumber(number: number) {
  const mac = parseMac(
    `52:54:00:${(number >> 16).toString(16).padStart(2, '0')}:${((number >> 8) & 255).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`,
  )
  if (mac === undefined) throw new Error(`no MAC of number ${number}`)
  return mac
}

export function bootIdNumber(number: number): BootId {
  return String(number).padStart(22, 'B') as BootId
}

type Of<Type extends BootEvent['type']> = Extract<BootEvent, { type: Type }>

/** The steps of one machine. */
export function stepsOfMachine({
  number = 1,
  host,
  address = `192.0.2.${50 + number}`,
}: {
  readonly number?: number
  readonly host?: string
  readonly address?: string
} = {}) {
  const mac = macNumber(number)
  const at = (seconds: number) => testStart + Math.round(seconds * 1000)
  const asks = (asked: Partial<DhcpQuestion>): DhcpQuestion => ({
    message: 'discover',
    stage: 'firmware',
    arch: 'x86_64',
    firmware: 'uefi',
    via: 'tftp',
    xid: 1,
    seconds: 0,
    ...asked,
  })

  return {
    mac,
    address,
    offer: (seconds: number, asked: Partial<DhcpQuestion> = {}, more: Partial<Of<'dhcp-answered'>> = {}) =>
      ({
        type: 'dhcp-answered',
        at: at(seconds),
        mac,
        host,
        role: 'proxy',
        message: 'offer',
        asked: asks(asked),
        target: asked.stage === 'ipxe' ? 'http://192.0.2.10/boot.ipxe' : 'snponly.efi',
        decision: 'live',
        ...more,
      }) satisfies BootEvent,
    acknowledge: (
      seconds: number,
      asked: Partial<DhcpQuestion> = {},
      more: Partial<Of<'dhcp-answered'>> = {},
    ) =>
      ({
        type: 'dhcp-answered',
        at: at(seconds),
        mac,
        host,
        role: 'server',
        message: 'acknowledge',
        asked: asks({ message: 'request', ...asked }),
        target: asked.stage === 'ipxe' ? 'http://192.0.2.10/boot.ipxe' : 'snponly.efi',
        decision: 'live',
        ...more,
      }) satisfies BootEvent,
    /** It takes the address of the site's server. */
    chooses: (
      seconds: number,
      asked: Partial<DhcpQuestion> = {},
      more: Partial<Of<'dhcp-unanswered'>> = {},
    ) =>
      ({
        type: 'dhcp-unanswered',
        at: at(seconds),
        mac,
        port: 67,
        reason: 'other-server-chosen',
        asked: asks({ message: 'request', ...asked }),
        chosen: '192.0.2.1',
        address,
        ...more,
      }) satisfies BootEvent,
    troubled: (seconds: number, trouble: Of<'dhcp-troubled'>['trouble']) =>
      ({ type: 'dhcp-troubled', at: at(seconds), mac, trouble }) satisfies BootEvent,
    tftpStart: (seconds: number, file = 'snponly.efi') =>
      ({ type: 'tftp-started', at: at(seconds), mac, address, file }) satisfies BootEvent,
    tftpEnd: (seconds: number, file = 'snponly.efi', more: Partial<Of<'tftp-ended'>> = {}) =>
      ({
        type: 'tftp-ended',
        at: at(seconds),
        mac,
        address,
        file,
        role: 'loader',
        loaderArch: 'x86_64',
        isWhole: true,
        sentBytes: 250_000,
        totalBytes: 250_000,
        durationMs: 400,
        ...more,
      }) satisfies BootEvent,
    entry: (seconds: number, name = 'boot.ipxe') =>
      ({ type: 'entry-sent', at: at(seconds), name, address }) satisfies BootEvent,
    decided: (seconds: number, id: number, more: Partial<Of<'decided'>> = {}) =>
      ({
        type: 'decided',
        at: at(seconds),
        bootId: bootIdNumber(id),
        kind: 'live',
        reason: 'follows-current',
        reasons: [reason('follows-current', { stream: 'fcos-stable', release: testRelease })],
        mac,
        arch: 'x86_64',
        firmware: 'uefi',
        loader: 'ipxe',
        host,
        address,
        bootimage: `fcos-stable/x86_64/${testRelease}/0123456789abcdef` as BootimageId,
        expects: ['ignition', 'report'],
        files: ['kernel', 'initramfs', 'rootfs'],
        ...more,
      }) satisfies BootEvent,
    sent: (seconds: number, id: number, role: string, more: Partial<Of<'artifact-sent'>> = {}) =>
      ({
        type: 'artifact-sent',
        at: at(seconds),
        bootId: bootIdNumber(id),
        role,
        name: `fedora-coreos-live-${role}`,
        method: 'GET',
        status: 200,
        sentBytes: 100 * mebibyte,
        totalBytes: 100 * mebibyte,
        durationMs: 1000,
        completed: true,
        address,
        ...more,
      }) satisfies BootEvent,
    looks: (seconds: number, id: number, role: string) =>
      ({
        type: 'artifact-sent',
        at: at(seconds),
        bootId: bootIdNumber(id),
        role,
        name: `fedora-coreos-live-${role}`,
        method: 'HEAD',
        status: 200,
        sentBytes: 0,
        totalBytes: 1000 * mebibyte,
        completed: true,
        address,
      }) satisfies BootEvent,
    progress: (seconds: number, id: number, role: string, mebibytes: number, total = 1000) =>
      ({
        type: 'artifact-progress',
        at: at(seconds),
        bootId: bootIdNumber(id),
        role,
        name: `fedora-coreos-live-${role}`,
        reachedBytes: mebibytes * mebibyte,
        totalBytes: total * mebibyte,
        address,
      }) satisfies BootEvent,
    ignition: (seconds: number, id: number, more: Partial<Of<'ignition-sent'>> = {}) =>
      ({
        type: 'ignition-sent',
        at: at(seconds),
        bootId: bootIdNumber(id),
        host,
        mac,
        address,
        system: 'live',
        ...more,
      }) satisfies BootEvent,
    refused: (seconds: number, id: number | undefined, refusal: Of<'token-refused'>['refusal'] = 'expired') =>
      ({
        type: 'token-refused',
        at: at(seconds),
        address,
        purpose: 'ignition',
        refusal,
        bootId: id === undefined ? undefined : bootIdNumber(id),
      }) satisfies BootEvent,
    report: (seconds: number, id: number, more: Partial<Of<'reported'>> = {}) =>
      ({
        type: 'reported',
        at: at(seconds),
        bootId: bootIdNumber(id),
        host,
        mac,
        address,
        status: 'booted',
        osVersion: testRelease,
        isKnown: false,
        ...more,
      }) satisfies BootEvent,
  }
}

export type MachineSteps = ReturnType<typeof stepsOfMachine>

/** UEFI by PXE, chainloaded iPXE, live system with Ignition and report: what a good boot tells, in 40 s. */
export function goodBoot(machine: MachineSteps, start: number, id: number): readonly BootEvent[] {
  return [
    machine.offer(start, { xid: id * 10 }),
    machine.chooses(start + 4, { xid: id * 10 }),
    machine.tftpStart(start + 4.2),
    machine.tftpEnd(start + 4.8),
    machine.offer(start + 6, { stage: 'ipxe', xid: id * 10 + 1 }),
    machine.chooses(start + 9, { stage: 'ipxe', xid: id * 10 + 1 }),
    machine.entry(start + 9.2),
    machine.decided(start + 9.4, id),
    machine.progress(start + 9.5, id, 'kernel', 0, 14),
    machine.sent(start + 9.8, id, 'kernel'),
    machine.progress(start + 9.9, id, 'initramfs', 0, 90),
    machine.sent(start + 11, id, 'initramfs'),
    machine.looks(start + 22, id, 'rootfs'),
    machine.progress(start + 22.1, id, 'rootfs', 0),
    machine.progress(start + 23.1, id, 'rootfs', 100),
    machine.progress(start + 24.1, id, 'rootfs', 210),
    machine.progress(start + 25.1, id, 'rootfs', 330),
    machine.progress(start + 28.1, id, 'rootfs', 650),
    machine.sent(start + 31, id, 'rootfs', {
      sentBytes: 1000 * mebibyte,
      totalBytes: 1000 * mebibyte,
      durationMs: 8900,
    }),
    machine.ignition(start + 33, id),
    machine.report(start + 40, id),
  ]
}
