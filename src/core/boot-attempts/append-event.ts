import type { CountedEvent } from '../boot-attempt.ts'
import type { BootEvent } from '../boot-event.ts'
import { isAskedAgain, isSameStep, isSameTransfer } from './same-step.ts'

/** So many steps back a repetition is looked for: a waiting machine repeats two, a failing boot some six. */
const looksBack = 10
/** Of the steps that are too many, those in the middle go: how it began tells more. */
const keptFromStart = 0.25
/** Of a firmware that asks DHCP again and again, each time as if it were the first, the first packets and so many last ones. */
const mostDhcpInRow = 16
/** The rate of a transfer is measured over at least this long. */
const rateWindowMs = 4000

/**
 * Adds an event to the steps of an attempt, in place; what is a repetition is counted. The entries themselves are never
 * changed, so that a copy of the list stays as it was. Returns how many events went because there were too many.
 */
export function appendEvent(events: CountedEvent[], event: BootEvent, maximum: number): number {
  return appendCounted(events, { event, count: 1, lastAt: event.at }, maximum)
}

/** The same for one that came several times already. */
export function appendCounted(events: CountedEvent[], entry: CountedEvent, maximum: number): number {
  const { event, count, lastAt } = entry
  if (event.type === 'artifact-progress') appendProgress(events, event)
  else if (event.type === 'decided' && isOneOfMany(events, event)) askedAgain(events, event, entry)
  else {
    const index = findRepeated(events, event)
    const known = index < 0 ? undefined : events[index]
    if (known === undefined) {
      events.push(entry)
      if (isDhcp(event)) return makeRoomInRow(events) + makeRoom(events, maximum)
    } else {
      events[index] = { event: known.event, count: known.count + count, lastAt }
      if (event.type === 'artifact-sent') dropProgress(events, event, index)
    }
  }
  return makeRoom(events, maximum)
}

/** Of a transfer that is told by an earlier step, which came once more, its places say nothing now. */
function dropProgress(
  events: CountedEvent[],
  event: Extract<BootEvent, { type: 'artifact-sent' }>,
  after: number,
): void {
  for (let index = events.length - 1; index > after; index -= 1) {
    const known = events[index]?.event
    if (known?.type !== 'artifact-progress') continue
    if (known.role === event.role && known.bootId === event.bootId && known.name === event.name) {
      events.splice(index, 1)
    }
  }
}

/** The first two of such a row stay as they are. */
function isOneOfMany(
  events: readonly CountedEvent[],
  event: Extract<BootEvent, { type: 'decided' }>,
): boolean {
  return isAskedAgain(events.at(-1)?.event, event) && isAskedAgain(events.at(-2)?.event, event)
}

/** In place of the decision before it: what the machine fetches now names the newest one. */
function askedAgain(
  events: CountedEvent[],
  event: Extract<BootEvent, { type: 'decided' }>,
  { count, lastAt }: CountedEvent,
): void {
  const known = events.at(-1)
  if (known === undefined) return
  const newest = { ...event, at: known.event.at }
  events[events.length - 1] = { event: newest, count: known.count + count, lastAt }
}

function findRepeated(events: readonly CountedEvent[], event: BootEvent): number {
  const least = Math.max(0, events.length - looksBack)
  for (let index = events.length - 1; index >= least; index -= 1) {
    const known = events[index]
    if (known !== undefined && known.event.type === event.type && isSameStep(known.event, event)) return index
  }
  return -1
}

/**
 * Of a transfer three places are kept: its start, the newest, and one some seconds before that, which tells its rate.
 */
function appendProgress(
  events: CountedEvent[],
  event: Extract<BootEvent, { type: 'artifact-progress' }>,
): void {
  const places: number[] = []
  const least = Math.max(0, events.length - looksBack)
  for (let index = events.length - 1; index >= least && places.length < 3; index -= 1) {
    const known = events[index]
    if (known !== undefined && isSameTransfer(known.event, event)) places.push(index)
  }
  const [newest, before] = places
  const last = newest === undefined ? undefined : events[newest]
  const earlier = before === undefined ? undefined : events[before]
  // A place that lies behind the last one is the beginning of another transfer.
  const goesOn =
    last?.event.type === 'artifact-progress' &&
    earlier?.event.type === 'artifact-progress' &&
    event.reachedBytes >= last.event.reachedBytes &&
    last.event.reachedBytes >= earlier.event.reachedBytes
  if (!goesOn || newest === undefined || before === undefined) {
    events.push({ event, count: 1, lastAt: event.at })
    return
  }
  const since = last.event.at - earlier.event.at
  events.splice(newest, 1)
  if (since >= rateWindowMs) {
    if (places.length > 2) events.splice(before, 1)
    events.push(last)
  }
  events.push({ event, count: last.count + 1, lastAt: event.at })
}

/** Returns how many events went. */
function makeRoomInRow(events: CountedEvent[]): number {
  const oldest = events.length - mostDhcpInRow - 2
  if (oldest < 0) return 0
  for (let index = events.length - 1; index >= oldest; index -= 1) {
    const event = events[index]?.event
    if (event === undefined || !isDhcp(event)) return 0
  }
  const [gone] = events.splice(oldest + 1, 1)
  return gone?.count ?? 0
}

function isDhcp({ type }: BootEvent): boolean {
  return type === 'dhcp-answered' || type === 'dhcp-unanswered'
}

function makeRoom(events: CountedEvent[], maximum: number): number {
  if (events.length <= maximum) return 0
  const gone = events.splice(Math.floor(maximum * keptFromStart), events.length - maximum)
  let count = 0
  for (const entry of gone) count += entry.count
  return count
}
