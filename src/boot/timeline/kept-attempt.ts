import type {
  AttemptId,
  AttemptRecord,
  AttemptState,
  BootAttempt,
  CountedEvent,
} from '../../core/boot-attempt.ts'
import { createJourney, type Journey, travel } from '../../core/boot-attempts/journey.ts'
import type { BootEvent, BootId } from '../../core/boot-event.ts'
import type { BootPatternCode } from '../../core/boot-pattern.ts'
import type { EarlierBoot } from '../../core/boot-patterns/pattern.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { Machine } from './machines.ts'

/** Cards of one boot that are told of beside the one that boots; whoever knows a host's UUID can make up more. */
const mostOtherMacs = 15

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** An attempt in memory: its record, which grows, and what must be known of it to join the next event. */
export interface KeptAttempt extends Omit<Mutable<AttemptRecord>, 'events'> {
  readonly id: AttemptId
  events: CountedEvent[]
  /** Of its decisions, the last ones. */
  bootIds: BootId[]
  journey: Journey
  machine: Machine | undefined
  /** Where it was seen, for as long as no card is known. */
  address: string | undefined
  /** The card that its firmware used last. */
  card: MacAddress | undefined
  /** Waits for `settle`. */
  isDirty: boolean
  /** Since `settle` looked, more came than repetitions and progress. */
  hasNews: boolean
  /** When `settle` looked last; ms since the epoch. */
  lookedAt: number
  /** Since when there are repetitions that are not on their way to the store. */
  repeatedSince: number | undefined
  /** It changed since it was saved. */
  isUnsaved: boolean
  /** The store was given some of it. */
  wasSaved: boolean
  /** The store has some of it for certain. */
  isInStore: boolean
  /** An earlier run of the service saw it. */
  isRestored: boolean
  isOverTold: boolean
  /** Patterns that were told once. */
  told: readonly BootPatternCode[]
  dueAt: number
  /** As it was when `settle` looked last. */
  state: AttemptState | undefined
  /** As it was reduced last; absent when something came since. */
  reduced: BootAttempt | undefined
}

export function createKeptAttempt(id: AttemptId, startedAt: number): KeptAttempt {
  return {
    id,
    host: undefined,
    mac: undefined,
    otherMacs: undefined,
    bootId: undefined,
    startedAt,
    lastAt: startedAt,
    outcome: undefined,
    endedAt: undefined,
    diagnosis: undefined,
    events: [],
    leftOut: 0,
    isHead: undefined,
    bootIds: [],
    journey: createJourney(),
    machine: undefined,
    address: undefined,
    card: undefined,
    isDirty: false,
    hasNews: false,
    lookedAt: Number.NEGATIVE_INFINITY,
    repeatedSince: undefined,
    isUnsaved: false,
    wasSaved: false,
    isInStore: false,
    isRestored: false,
    isOverTold: false,
    told: [],
    dueAt: Number.POSITIVE_INFINITY,
    state: undefined,
    reduced: undefined,
  }
}

/** A card of this boot was heard. Until there is a decision the last one counts, and then the one that it was for. */
export function noteCard(attempt: KeptAttempt, mac: MacAddress, isDecision: boolean): void {
  const { mac: known, otherMacs = [], journey } = attempt
  if (known === mac) return
  const leads = known === undefined || isDecision || journey.kind === undefined
  if (!leads && otherMacs.includes(mac)) return
  const other = leads ? known : mac
  if (leads) attempt.mac = mac
  const others = otherMacs.filter((card) => card !== attempt.mac && card !== other)
  if (other !== undefined) others.push(other)
  attempt.otherMacs = others.length === 0 ? undefined : others.slice(-mostOtherMacs)
}

/** As the store wants it: what stays as it is while the attempt goes on. */
export function recordOf(attempt: KeptAttempt): AttemptRecord {
  const {
    id,
    host,
    mac,
    otherMacs,
    bootId,
    startedAt,
    lastAt,
    outcome,
    endedAt,
    diagnosis,
    events,
    leftOut,
  } = attempt
  return {
    id,
    ...(host === undefined ? {} : { host }),
    ...(mac === undefined ? {} : { mac }),
    ...(otherMacs === undefined ? {} : { otherMacs }),
    ...(bootId === undefined ? {} : { bootId }),
    startedAt,
    lastAt,
    ...(outcome === undefined ? {} : { outcome }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(diagnosis === undefined ? {} : { diagnosis }),
    events: events.slice(),
    leftOut,
    ...(attempt.isHead === true ? { isHead: true } : {}),
  }
}

export function earlierBootOf({ startedAt, lastAt, outcome, journey, mac }: KeptAttempt): EarlierBoot {
  const { level, kind, via, loaders } = journey
  return { startedAt, lastAt, outcome, level, kind, mac, via, loaders }
}

/** Leaves what a list tells: the last decision, the last report, the last step. The store has the others. */
export function shrinkToHead(attempt: KeptAttempt): void {
  const { events } = attempt
  const decided = events.findLast(({ event }) => event.type === 'decided')
  const reported = events.findLast(({ event }) => event.type === 'reported')
  const last = events.at(-1)
  const kept = events.filter((entry) => entry === decided || entry === reported || entry === last)
  if (kept.length === events.length) return
  attempt.events = kept.map((entry) => sharing(entry, attempt))
  // Exactly as long as they are: what grew has room for more.
  attempt.bootIds = attempt.bootIds.slice()
  attempt.isHead = true
  attempt.reduced = undefined
}

/** The same with the texts that the attempt has already: every packet and request made its own. */
function sharing({ event, count, lastAt }: CountedEvent, attempt: KeptAttempt): CountedEvent {
  const shared: Record<string, unknown> = {}
  for (const name of ['mac', 'host', 'bootId', 'address'] as const) {
    const said: unknown = (event as Partial<Record<typeof name, unknown>>)[name]
    if (said !== undefined && said === attempt[name]) shared[name] = attempt[name]
  }
  return { event: { ...event, ...shared }, count, lastAt }
}

export function retrace(attempt: KeptAttempt): void {
  attempt.journey = createJourney()
  for (const { event } of attempt.events) travel(attempt.journey, event)
}

/** Whether any of its times is yet to come. */
export function isAhead({ startedAt, lastAt, events }: KeptAttempt, now: number): boolean {
  if (startedAt > now || lastAt > now) return true
  return events.some((entry) => entry.lastAt > now || entry.event.at > now)
}

/** Times that are yet to come count as now: they are from a clock that was wrong, and nothing may wait for them. */
export function clipTimes(attempt: KeptAttempt, now: number): void {
  attempt.startedAt = Math.min(attempt.startedAt, now)
  attempt.lastAt = Math.min(attempt.lastAt, now)
  if (attempt.endedAt !== undefined) attempt.endedAt = Math.min(attempt.endedAt, now)
  attempt.events = attempt.events.map((entry) =>
    entry.lastAt <= now && entry.event.at <= now
      ? entry
      : {
          event: { ...entry.event, at: Math.min(entry.event.at, now) } as BootEvent,
          count: entry.count,
          lastAt: Math.min(entry.lastAt, now),
        },
  )
  attempt.reduced = undefined
}
