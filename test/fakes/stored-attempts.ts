import type { AttemptId, AttemptRecord, CountedEvent } from '../../src/core/boot-attempt.ts'
import type { BootEvent, DhcpQuestion } from '../../src/core/boot-event.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { parseUuid } from '../../src/core/uuid.ts'
import { makeBootId, makeMac, t0 } from './stored-fleet.ts'

type EventOf<Type extends BootEvent['type']> = Extract<BootEvent, { readonly type: Type }>

const bootId = makeBootId(1)
const mac = makeMac(1)
const address = '192.0.2.41'
const uuid = parseUuid('4c4c4544-0042-3510-8052-b4c04f4e5932')

export const sampleBootimage = 'fcos-stable/x86_64/44.20261101.3.0/0123456789abcdef' as BootimageId

const asked: Required<DhcpQuestion> = {
  message: 'discover',
  stage: 'firmware',
  arch: 'x86_64',
  firmware: 'uefi',
  via: 'tftp',
  xid: 0xdeadbeef,
  seconds: 4,
  bootServerType: 0,
}

/** One event of each type, with every field that it can have. */
export const wholeEvents: { readonly [Type in BootEvent['type']]: Required<EventOf<Type>> } = {
  decided: {
    type: 'decided',
    at: t0 + 1,
    bootId,
    kind: 'live',
    reason: 'follows-current',
    reasons: [
      { code: 'follows-current', facts: { stream: 'fcos-stable', release: '44.20261101.3.0' } },
      { code: 'host-matched-by-mac', facts: { host: 'rack1-n01', mac } },
    ],
    mac,
    uuid: uuid ?? fail(),
    serial: 'J5B0XR2',
    arch: 'x86_64',
    firmware: 'uefi',
    host: 'rack1-n01',
    address,
    bootimage: sampleBootimage,
    loader: 'ipxe',
    files: ['kernel', 'initramfs', 'rootfs'],
    expects: ['ignition', 'report'],
    trace: 'a'.repeat(32),
  },
  'artifact-sent': {
    type: 'artifact-sent',
    at: t0 + 2,
    bootId,
    role: 'rootfs',
    name: 'rootfs.img',
    method: 'GET',
    status: 200,
    fromBytes: 500,
    sentBytes: 1_000,
    totalBytes: 1_000,
    durationMs: 40,
    loaderArch: 'aarch64',
    completed: true,
    address,
    trace: 'b'.repeat(32),
  },
  'artifact-progress': {
    type: 'artifact-progress',
    at: t0 + 3,
    bootId,
    role: 'rootfs',
    name: 'rootfs.img',
    loaderArch: 'x86_64',
    reachedBytes: 0,
    totalBytes: 1_000,
    address,
  },
  'entry-sent': { type: 'entry-sent', at: t0 + 4, name: 'boot.ipxe', address, mac },
  'token-refused': {
    type: 'token-refused',
    at: t0 + 5,
    address,
    purpose: 'ignition',
    refusal: 'expired',
    bootId,
  },
  'dhcp-answered': {
    type: 'dhcp-answered',
    at: t0 + 6,
    mac,
    host: 'rack1-n01',
    role: 'proxy',
    message: 'offer',
    asked,
    address,
    target: 'snponly.efi',
    decision: 'live',
    reason: 'pinned',
  },
  'dhcp-unanswered': {
    type: 'dhcp-unanswered',
    at: t0 + 7,
    mac,
    port: 4011,
    reason: 'chose another server',
    asked,
    chosen: '192.0.2.1',
    address,
  },
  'dhcp-troubled': { type: 'dhcp-troubled', at: t0 + 8, mac, trouble: 'loop-suspected', detail: '5 in 60 s' },
  'ignition-sent': {
    type: 'ignition-sent',
    at: t0 + 9,
    bootId,
    host: 'rack1-n01',
    mac,
    address,
    system: 'live',
  },
  reported: {
    type: 'reported',
    at: t0 + 10,
    bootId,
    host: 'rack1-n01',
    mac,
    address,
    status: 'booted',
    osVersion: '44.20261101.3.0',
    message: 'all is well',
    isKnown: false,
  },
  'tftp-started': { type: 'tftp-started', at: t0 + 11, mac, address, file: 'snponly.efi' },
  'tftp-ended': {
    type: 'tftp-ended',
    at: t0 + 12,
    mac,
    address,
    file: 'snponly.efi',
    role: 'loader',
    loaderArch: 'x86_64',
    isWhole: false,
    sentBytes: 10,
    totalBytes: 20,
    durationMs: 30,
    clientError: 'User aborted the transfer',
  },
  diagnosed: { type: 'diagnosed', at: t0 + 13, code: 'script-not-fetched', text: 'It asked for no script.' },
  'tftp-refused': { type: 'tftp-refused', at: t0 + 14, mac, address, file: 'nbp', reason: 'file not found' },
}

function fail(): never {
  throw new Error('unreachable: that is a UUID')
}

export function counted(...events: readonly BootEvent[]): readonly CountedEvent[] {
  return events.map((event) => ({ event, count: 1, lastAt: event.at }))
}

/** Attempt ids sort by the time of their start. */
export function makeAttemptId(startedAt: number, number = 0): AttemptId {
  return `${startedAt.toString(36).padStart(9, '0')}${number.toString(36).padStart(6, '0')}` as AttemptId
}

/** A boot of host `rack1-n<number>`, which began that many seconds after `t0`. */
export function makeAttempt(number: number, extra: Partial<AttemptRecord> = {}): AttemptRecord {
  const startedAt = extra.startedAt ?? t0 + number * 1_000
  const host = `rack1-n${number}`
  const decided: BootEvent = {
    type: 'decided',
    at: startedAt,
    bootId: makeBootId(number),
    kind: 'live',
    reason: 'follows-current',
    reasons: [{ code: 'follows-current', facts: { stream: 'fcos-stable', release: '44.20261101.3.0' } }],
    mac: makeMac(number),
    host,
    bootimage: sampleBootimage,
  }
  return {
    id: makeAttemptId(startedAt, number),
    host,
    mac: makeMac(number),
    bootId: makeBootId(number),
    startedAt,
    lastAt: startedAt,
    events: counted(decided),
    leftOut: 0,
    ...extra,
  }
}
