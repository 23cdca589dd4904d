import type { DecisionKind } from '../core/boot-decision.ts'
import { type BootEvent, type BootId, type DhcpQuestion, parseBootId } from '../core/boot-event.ts'
import { bootPatternCodes } from '../core/boot-pattern.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { Firmware, Loader } from '../core/client.ts'
import { reportStates } from '../core/fleet.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import { type Reason, type ReasonCode, reasonTexts } from '../core/reason.ts'
import { tokenRefusals } from '../core/token-refusal.ts'
import { parseUuid, type Uuid } from '../core/uuid.ts'
import { readArch, readNumber, readProse } from './stored-value.ts'

type Read<T> = (value: unknown) => T
/** A reader for each field of an event, so that none can be forgotten. */
type FieldsOf<Event> = { readonly [Name in keyof Omit<Event, 'type'>]-?: Read<Event[Name & keyof Event]> }
type EventOf<Type extends BootEvent['type']> = Extract<BootEvent, { readonly type: Type }>

const text: Read<string> = (value) => readProse(value, 'a text')
const number: Read<number> = (value) => readNumber(value, 'a number')
const arch = readArch
const flag: Read<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new TypeError('a flag is none')
  return value
}
const mac: Read<MacAddress> = (value) => parsed(parseMac(text(value)), value)
const uuid: Read<Uuid> = (value) => parsed(parseUuid(text(value)), value)
const bootId: Read<BootId> = (value) => parsed(parseBootId(text(value)), value)
const bootimage: Read<BootimageId> = (value) => text(value) as BootimageId

function parsed<T>(value: T | undefined, from: unknown): T {
  if (value === undefined) throw new TypeError(`${JSON.stringify(from)} is not understood`)
  return value
}

function maybe<T>(read: Read<T>): Read<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value))
}

/** One of all words of a type; the compiler sees that none is missing. */
function word<Word extends string>(words: Readonly<Record<Word, true>>): Read<Word> {
  return (value) => {
    if (typeof value === 'string' && Object.hasOwn(words, value)) return value as Word
    throw new TypeError(`${JSON.stringify(value)} is not known`)
  }
}

function oneOf<Word extends string>(words: readonly Word[]): Read<Word> {
  return (value) =>
    parsed(
      words.find((known) => known === value),
      value,
    )
}

function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new TypeError('a list is none')
    return value.map(read)
  }
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new TypeError('an event is no object')
  return value as Readonly<Record<string, unknown>>
}

function objectOf<T extends object>(spec: { readonly [Name in keyof T]-?: Read<T[Name]> }): Read<T> {
  const readers = Object.entries<Read<unknown>>(spec)
  return (value) => {
    const given = fields(value)
    const found: Record<string, unknown> = {}
    for (const [name, read] of readers) {
      const said = read(given[name])
      if (said !== undefined) found[name] = said
    }
    return found as T
  }
}

const decision = word<DecisionKind>({
  ignore: true,
  local: true,
  chainload: true,
  live: true,
  install: true,
  wait: true,
  hold: true,
})
const firmware = word<Firmware>({ bios: true, uefi: true, 'open-firmware': true, unknown: true })
const loader = word<Loader>({ none: true, ipxe: true, grub: true, pxelinux: true, 'http-boot': true })
const reasonCode: Read<ReasonCode> = (value) => {
  if (typeof value === 'string' && Object.hasOwn(reasonTexts, value)) return value as ReasonCode
  throw new TypeError(`${JSON.stringify(value)} is no reason that is known`)
}
const facts: Read<Reason['facts']> = (value) =>
  Object.fromEntries(Object.entries(fields(value)).map(([name, fact]) => [name, text(fact)]))
const reasons: Read<readonly [Reason, ...Reason[]]> = (value) => {
  const [first, ...others] = listOf(objectOf<Reason>({ code: reasonCode, facts }))(value)
  if (first === undefined) throw new TypeError('a decision without a reason')
  return [first, ...others]
}
const question = objectOf<DhcpQuestion>({
  message: oneOf(['discover', 'request', 'inform']),
  stage: oneOf(['firmware', 'ipxe', 'other']),
  arch: maybe(arch),
  firmware: maybe(firmware),
  via: oneOf(['tftp', 'http']),
  xid: number,
  seconds: number,
  bootServerType: maybe(number),
})

const eventFields: { readonly [Type in BootEvent['type']]: FieldsOf<EventOf<Type>> } = {
  decided: {
    at: number,
    bootId,
    kind: decision,
    reason: reasonCode,
    reasons,
    mac: maybe(mac),
    uuid: maybe(uuid),
    serial: maybe(text),
    arch: maybe(arch),
    firmware: maybe(firmware),
    host: maybe(text),
    address: maybe(text),
    bootimage: maybe(bootimage),
    loader: maybe(loader),
    files: maybe(listOf(text)),
    expects: maybe(listOf(oneOf(['ignition', 'report']))),
    trace: maybe(text),
  },
  'artifact-sent': {
    at: number,
    bootId: maybe(bootId),
    role: text,
    name: maybe(text),
    method: oneOf(['GET', 'HEAD']),
    status: number,
    fromBytes: maybe(number),
    sentBytes: number,
    totalBytes: maybe(number),
    durationMs: maybe(number),
    loaderArch: maybe(arch),
    completed: flag,
    address: maybe(text),
    trace: maybe(text),
  },
  'artifact-progress': {
    at: number,
    bootId: maybe(bootId),
    role: text,
    name: maybe(text),
    loaderArch: maybe(arch),
    reachedBytes: number,
    totalBytes: number,
    address: maybe(text),
  },
  'entry-sent': { at: number, name: text, address: text, mac: maybe(mac) },
  'token-refused': {
    at: number,
    address: text,
    purpose: oneOf(['ignition', 'report']),
    refusal: oneOf(tokenRefusals),
    bootId: maybe(bootId),
  },
  'dhcp-answered': {
    at: number,
    mac: maybe(mac),
    host: maybe(text),
    role: oneOf(['proxy', 'boot-server', 'server']),
    message: oneOf(['offer', 'acknowledge']),
    asked: maybe(question),
    address: maybe(text),
    target: maybe(text),
    decision: maybe(decision),
    reason: maybe(reasonCode),
  },
  'dhcp-unanswered': {
    at: number,
    mac,
    port(value) {
      if (value === 67 || value === 4011) return value
      throw new TypeError(`port ${JSON.stringify(value)} is not known`)
    },
    reason: text,
    asked: question,
    chosen: maybe(text),
    address: maybe(text),
  },
  'dhcp-troubled': {
    at: number,
    mac,
    trouble: oneOf(['offers-unanswered', 'loop-suspected', 'client-contradicts-itself']),
    detail: maybe(text),
  },
  'ignition-sent': {
    at: number,
    bootId,
    host: maybe(text),
    mac: maybe(mac),
    address: text,
    system: oneOf(['live', 'installed', 'installer']),
  },
  reported: {
    at: number,
    bootId,
    host: maybe(text),
    mac: maybe(mac),
    address: maybe(text),
    status: oneOf(reportStates),
    osVersion: maybe(text),
    message: maybe(text),
    isKnown: flag,
  },
  'tftp-started': { at: number, mac: maybe(mac), address: text, file: text },
  'tftp-ended': {
    at: number,
    mac: maybe(mac),
    address: text,
    file: text,
    role: maybe(oneOf(['loader', 'script', 'artifact', 'other'])),
    loaderArch: maybe(arch),
    isWhole: flag,
    sentBytes: number,
    totalBytes: maybe(number),
    durationMs: number,
    clientError: maybe(text),
  },
  diagnosed: { at: number, code: oneOf(bootPatternCodes), text },
  'tftp-refused': { at: number, mac: maybe(mac), address: text, file: text, reason: text },
}

const readers = new Map<unknown, Read<object>>(
  Object.entries(eventFields).map(([type, spec]) => [type, objectOf(spec as Record<string, Read<unknown>>)]),
)

/**
 * An event that was kept as JSON, each field looked at and unknown ones left out; we wrote it, but perhaps with another
 * version.
 * @throws TypeError naming what is wrong
 */
export function readBootEvent(value: unknown): BootEvent {
  const { type } = fields(value)
  const read = readers.get(type)
  if (read === undefined) throw new TypeError(`${JSON.stringify(type)} is no event that is known`)
  return { type, ...read(value) } as BootEvent
}
