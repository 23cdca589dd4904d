import type { AttemptRecord, BootAttempt } from '../../core/boot-attempt.ts'
import { appendEvent } from '../../core/boot-attempts/append-event.ts'
import { boundEvent } from '../../core/boot-attempts/bound-event.ts'
import { travel } from '../../core/boot-attempts/journey.ts'
import { type BootEvent, parseBootId } from '../../core/boot-event.ts'
import type { Clock } from '../../core/clock.ts'
import { createAddressServers } from './address-servers.ts'
import { createAttemptShelf } from './attempt-shelf.ts'
import { createChangedAttempts, mostHostsAtOnce } from './changed-attempts.ts'
import { createCorrelator } from './correlate.ts'
import { createExaminer } from './examine.ts'
import { clipTimes, createKeptAttempt, isAhead, type KeptAttempt, noteCard, retrace } from './kept-attempt.ts'
import { mergeAttempts } from './merge-attempts.ts'
import type { Timeline, TimelineListeners } from './timeline.ts'

export interface TimelineMaxima {
  /** Attempts in memory, heads included. */
  readonly attempts: number
  /** Of those, the ones that are over and still have all their events. */
  readonly ended: number
  /** Of one attempt. */
  readonly events: number
  /** Boots of one machine that are kept in memory. */
  readonly ofMachine: number
  /** Boots of machines that no record matches, which may be made up, that begin in one second. */
  readonly strangersPerSecond: number
}

/** 50,000 machines; some 300 MB when all of them boot at once. */
export const defaultTimelineMaxima: TimelineMaxima = {
  attempts: 60_000,
  ended: 1_000,
  events: 200,
  ofMachine: 12,
  strangersPerSecond: 2_000,
}

export interface TimelineOptions {
  readonly clock: Clock
  /** From 0 to 1 (exclusive); for the ids of attempts. */
  readonly random: () => number
  readonly listeners?: TimelineListeners
  readonly maxima?: Partial<TimelineMaxima>
}

/** `settle` comes a few times a second: a longer pause is a clock that jumped, or a process that was stopped. */
const longestPauseMs = 30_000
const clockJitterMs = 1_000
const mostAheadMs = 60_000
/** What only time changes is looked for once a second. */
const sweepEveryMs = 1_000
/** Of what a machine repeats, and of the place in a file, a crash may lose so much. */
const keepRepeatsEveryMs = 10_000
/** Attempts that are kept as they were read. */
const mostRead = 2_000

/** Puts the parts together: which attempt an event belongs to, what is kept, where each stands. */
export function createTimeline(options: TimelineOptions): Timeline {
  const { clock, random, listeners = {} } = options
  const maxima = { ...defaultTimelineMaxima, ...options.maxima }
  const addressServers = createAddressServers()
  const changed = createChangedAttempts()
  const shelf = createAttemptShelf({
    mostAttempts: maxima.attempts,
    mostEnded: maxima.ended,
    onLeave: forget,
  })
  const correlator = createCorrelator({
    shelf,
    random,
    mostOfMachine: maxima.ofMachine,
    strangersPerSecond: maxima.strangersPerSecond,
    onChange: touch,
    onMerge: merge,
  })
  const { machines } = correlator
  const examiner = createExaminer({ shelf, addressServers, listeners, mostEvents: maxima.events })
  const read = new Set<KeptAttempt>()
  let sweptAt = Number.NEGATIVE_INFINITY
  /** Where a sweep goes on that was more than one call may take. */
  let sweeping: Iterator<KeptAttempt> | undefined
  let settledAt = clock.now()
  let hearingSince = settledAt

  function forget(attempt: KeptAttempt): void {
    changed.forget(attempt)
    correlator.forget(attempt)
  }

  /** Takes the events of `joined` into `attempt`, of which there is no other from then on. */
  function merge(attempt: KeptAttempt, joined: KeptAttempt): void {
    mergeAttempts(attempt, joined, maxima.events)
    for (const bootId of joined.bootIds) shelf.nameBoot(attempt, bootId)
    forget(joined)
    shelf.absorb(joined)
    touch(attempt)
  }

  function touch(attempt: KeptAttempt): void {
    attempt.reduced = undefined
    attempt.hasNews = true
    shelf.changed(attempt)
    changed.add(attempt)
  }

  /** What came again, or is only further, is told once a second and kept every few. */
  function touchAgain(attempt: KeptAttempt, at: number): void {
    attempt.reduced = undefined
    attempt.repeatedSince ??= at
    changed.add(attempt)
  }

  function keepRepeats(attempt: KeptAttempt, now: number): void {
    const { repeatedSince, outcome } = attempt
    if (repeatedSince === undefined) return
    if (outcome !== undefined || Math.abs(now - repeatedSince) >= keepRepeatsEveryMs) shelf.changed(attempt)
  }

  function join(attempt: KeptAttempt, event: BootEvent): void {
    const steps = attempt.events.length
    attempt.leftOut += appendEvent(attempt.events, event, maxima.events)
    travel(attempt.journey, event)
    // As the clock has it now, also when it was set back: what counts is how long ago it was.
    attempt.lastAt = event.at
    if ('mac' in event && event.mac !== undefined) {
      noteCard(attempt, event.mac, event.type === 'decided')
      if (event.type !== 'decided') attempt.card = event.mac
    }
    const host = attempt.machine?.host ?? ('host' in event ? event.host : undefined)
    if (host !== undefined && attempt.host !== host) {
      attempt.host = host
      shelf.promote(attempt)
    }
    if (event.type === 'decided') shelf.nameBoot(attempt, event.bootId)
    else if ((event.type === 'reported' || event.type === 'ignition-sent') && attempt.bootId === undefined) {
      shelf.nameBoot(attempt, event.bootId)
    }
    if (attempt.events.length !== steps || isAlwaysNews(event)) touch(attempt)
    else touchAgain(attempt, event.at)
  }

  /** A time that is yet to come is from before the clock was set back. */
  function inTime(event: BootEvent): BootEvent {
    const now = clock.now()
    return event.at <= now + mostAheadMs ? event : { ...event, at: now }
  }

  /** Whose time has come; those that one call may not take are left for the next one. Returns whether there are any. */
  function sweep(now: number): boolean {
    sweeping ??= shelf.open()[Symbol.iterator]()
    sweptAt = now
    let left = mostHostsAtOnce
    while (left > 0) {
      const next = sweeping.next()
      if (next.done === true) {
        sweeping = undefined
        return false
      }
      const attempt = next.value
      keepRepeats(attempt, now)
      if (attempt.isDirty || attempt.dueAt > now) continue
      examiner.settle(attempt, { now, hearingSince, isChanged: false })
      left -= 1
    }
    return true
  }

  function named(id: string): KeptAttempt | undefined {
    const bootId = parseBootId(id)
    return bootId === undefined ? shelf.byId(id) : shelf.byBoot(bootId)
  }

  /** What was read is kept until so much else was: a list of all machines would double what they take. */
  function forgetRead(): void {
    for (const attempt of read) attempt.reduced = undefined
    read.clear()
  }

  function reduced(attempt: KeptAttempt): BootAttempt {
    if (attempt.reduced === undefined) {
      attempt.reduced = examiner.look(attempt, { now: clock.now(), hearingSince })
      if (read.size >= mostRead) forgetRead()
      read.add(attempt)
    }
    return attempt.reduced
  }

  function restore(record: AttemptRecord, now: number): void {
    if (shelf.byId(record.id) !== undefined) return
    const attempt = createKeptAttempt(record.id, record.startedAt)
    Object.assign(attempt, record, { events: record.events.slice() })
    if (isAhead(attempt, now)) clipTimes(attempt, now)
    attempt.wasSaved = true
    attempt.isInStore = true
    attempt.isRestored = true
    attempt.isOverTold = attempt.outcome !== undefined
    attempt.told = attempt.diagnosis === undefined ? [] : [attempt.diagnosis.code]
    retrace(attempt)
    shelf.add(attempt)
    for (const { event } of attempt.events) {
      if (event.type === 'decided') shelf.nameBoot(attempt, event.bootId)
    }
    if (record.bootId !== undefined && attempt.bootId === undefined) shelf.nameBoot(attempt, record.bootId)
    correlator.restore(attempt)
    if (attempt.outcome === undefined) {
      changed.add(attempt)
      return
    }
    attempt.state = 'over'
    shelf.ended(attempt)
  }

  return {
    note(said) {
      const event = boundEvent(inTime(said))
      if (event.type === 'dhcp-unanswered') addressServers.note(event)
      const attempt = correlator.find(event)
      if (attempt !== undefined) join(attempt, event)
    },
    settle(now) {
      const isBack = now < settledAt - clockJitterMs
      if (isBack || now > settledAt + longestPauseMs) hearingSince = now
      settledAt = now
      if (isBack) {
        for (const attempt of shelf.all()) if (isAhead(attempt, now)) clipTimes(attempt, now)
        // Whenever they were to be looked at next, it was by the clock of before.
        for (const attempt of shelf.open()) attempt.dueAt = now
      }
      const isMoreChanged = changed.take(now, (attempt) => {
        examiner.settle(attempt, { now, hearingSince, isChanged: true })
        keepRepeats(attempt, now)
      })
      const isSweep = isBack || sweeping !== undefined || now >= sweptAt + sweepEveryMs
      const isMoreDue = isSweep && sweep(now)
      return isMoreChanged || isMoreDue
    },
    attempt(id) {
      const attempt = named(id)
      return attempt === undefined ? undefined : reduced(attempt)
    },
    glance: named,
    *newest() {
      for (const machine of machines.all()) {
        const newest = machine.attempts.at(-1)
        if (newest !== undefined) yield reduced(newest)
      }
      for (const attempt of correlator.unnamed()) yield reduced(attempt)
    },
    of({ host, macs = [] }) {
      const found = new Set(host === undefined ? [] : machines.byHost(host)?.attempts)
      for (const mac of macs) for (const attempt of machines.byMac(mac)?.attempts ?? []) found.add(attempt)
      return [...found].sort(byNewest).map(reduced)
    },
    attempts: () => [...shelf.all()].sort(byNewest).map(reduced),
    takeUnsaved: (most) => shelf.takeUnsaved(most),
    keepRepeats() {
      for (const attempt of shelf.all()) if (attempt.repeatedSince !== undefined) shelf.changed(attempt)
    },
    returnUnsaved: (records) => shelf.returnUnsaved(records),
    confirmSaved: (records) => shelf.confirmSaved(records),
    notInStore: () => shelf.notInStore(),
    goingOn: () => shelf.open(),
    restore(records, now) {
      hearingSince = now
      settledAt = now
      for (const record of [...records].sort((a, b) => a.startedAt - b.startedAt)) restore(record, now)
    },
  }
}

function byNewest(a: KeptAttempt, b: KeptAttempt): number {
  return b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1)
}

/** What it decides or says is kept with the next batch, also where its step is one that came before. */
function isAlwaysNews({ type }: BootEvent): boolean {
  return type === 'decided' || type === 'reported' || type === 'ignition-sent'
}
