import {
  type AttemptId,
  type AttemptRecord,
  attemptOutcomes,
  type CountedEvent,
  type Diagnosis,
} from '../core/boot-attempt.ts'
import { parseBootId } from '../core/boot-event.ts'
import { bootPatternCodes } from '../core/boot-pattern.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import { readBootEvent } from './stored-boot-event.ts'
import { oneOf, readList, readNumber, readObject, readProse, readText } from './stored-value.ts'
import type { AttemptRow } from './tables.ts'

/** A boot as it is sent to be kept: its row, and what is kept beside it. */
export interface AttemptWrite {
  readonly row: AttemptRow
  /** Of the decisions before the last one. */
  readonly earlierBootIds: readonly string[]
  readonly otherMacs: readonly string[]
  /** Its events are added to those that are kept. */
  readonly isHead: boolean
}

export function attemptWrite(record: AttemptRecord): AttemptWrite {
  const { diagnosis, events, isHead = false } = record
  const bootIds = new Set<string>()
  for (const { event } of events) if (event.type === 'decided') bootIds.add(event.bootId)
  if (record.bootId !== undefined) bootIds.delete(record.bootId)
  return {
    row: {
      id: record.id,
      host: record.host ?? null,
      mac: record.mac ?? null,
      boot_id: record.bootId ?? null,
      started_at: record.startedAt,
      last_at: record.lastAt,
      outcome: record.outcome ?? null,
      ended_at: record.endedAt ?? null,
      pattern: diagnosis?.code ?? null,
      diagnosis: diagnosis === undefined ? null : JSON.stringify(diagnosis),
      left_out: record.leftOut,
      head: JSON.stringify(headOf(events)),
      events: JSON.stringify(events),
    },
    earlierBootIds: [...bootIds],
    otherMacs: record.otherMacs ?? [],
    isHead,
  }
}

/** What a list needs: what was decided last, what the machine said last, and its last step. */
export function headOf(events: readonly CountedEvent[]): readonly CountedEvent[] {
  const decided = events.findLast(({ event }) => event.type === 'decided')
  const reported = events.findLast(({ event }) => event.type === 'reported')
  const last = events.at(-1)
  return events.filter((entry) => entry === decided || entry === reported || entry === last)
}

/** Those that are kept, and after them what came since. */
export function joinedEvents(
  kept: readonly CountedEvent[],
  head: readonly CountedEvent[],
): readonly CountedEvent[] {
  const known = new Set(kept.map(keyOf))
  return [...kept, ...head.filter((entry) => !known.has(keyOf(entry)))]
}

function keyOf({ event }: CountedEvent): string {
  return `${event.type} ${event.at}`
}

/** A row as it is read: with the cards that are kept beside it, `undefined` where nobody asked. */
export type ReadAttemptRow = AttemptRow & { readonly other_macs?: string | null }

export function attemptRecord(row: ReadAttemptRow): AttemptRecord {
  return { ...fieldsOf(row), events: readEvents(row.events, 'events') }
}

/** Without the events that only a whole boot needs. */
export function attemptHead(row: Omit<ReadAttemptRow, 'events'>): AttemptRecord {
  return { ...fieldsOf(row), events: readEvents(row.head, 'head'), isHead: true }
}

function fieldsOf(row: Omit<ReadAttemptRow, 'events'>): Omit<AttemptRecord, 'events'> {
  const mac = row.mac === null ? undefined : parseMac(readText(row.mac, 'mac'))
  const bootId = row.boot_id === null ? undefined : parseBootId(readText(row.boot_id, 'boot_id'))
  if (row.mac !== null && mac === undefined) throw new TypeError(`mac is ${JSON.stringify(row.mac)}`)
  if (row.boot_id !== null && bootId === undefined)
    throw new TypeError(`boot_id is ${JSON.stringify(row.boot_id)}`)
  const otherMacs = readMacs(row.other_macs ?? '').filter((other) => other !== mac)
  return {
    id: readText(row.id, 'id') as AttemptId,
    ...(row.host === null ? {} : { host: readText(row.host, 'host') }),
    ...(mac === undefined ? {} : { mac }),
    ...(otherMacs.length === 0 ? {} : { otherMacs }),
    ...(bootId === undefined ? {} : { bootId }),
    startedAt: readNumber(row.started_at, 'started_at'),
    lastAt: readNumber(row.last_at, 'last_at'),
    ...(row.outcome === null ? {} : { outcome: oneOf({ outcome: row.outcome }, 'outcome', attemptOutcomes) }),
    ...(row.ended_at === null ? {} : { endedAt: readNumber(row.ended_at, 'ended_at') }),
    ...(row.diagnosis === null ? {} : { diagnosis: readDiagnosis(row.diagnosis) }),
    leftOut: readNumber(row.left_out, 'left_out'),
  }
}

function readMacs(text: string): readonly MacAddress[] {
  return text.split(' ').flatMap((word) => parseMac(word) ?? [])
}

function readDiagnosis(json: string): Diagnosis {
  const fields = readObject(json, 'diagnosis')
  return {
    code: oneOf(fields, 'code', bootPatternCodes),
    text: readProse(fields.text, 'text'),
    remedy: readProse(fields.remedy, 'remedy'),
    at: readNumber(fields.at, 'at'),
  }
}

function readEvents(json: string, name: string): readonly CountedEvent[] {
  return readList(json, name).map((value) => {
    if (typeof value !== 'object' || value === null) throw new TypeError(`${name} does not hold events`)
    const { event, count, lastAt } = value as Readonly<Record<string, unknown>>
    return {
      event: readBootEvent(event),
      count: readNumber(count, 'count'),
      lastAt: readNumber(lastAt, 'lastAt'),
    }
  })
}
