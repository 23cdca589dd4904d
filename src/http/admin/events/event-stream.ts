import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { ServiceEvent, ServiceEventFeed } from '../../../core/service-event.ts'
import { endingText, eventText, gapText, heartbeatText, openingText } from './event-text.ts'

export interface EventStreamRequest {
  /** Nothing was written to it yet. */
  readonly response: ServerResponse
  /** Of the answer, besides its type. */
  readonly headers: Readonly<Record<string, OutgoingHttpHeader | undefined>>
  /** Id of the last event that the reader has; absent: what is to come. */
  readonly after?: string
  readonly wants: (event: ServiceEvent) => boolean
  /** How events that come together are told; default: each whole, as the API tells it. */
  readonly textOf?: (events: readonly ServiceEvent[]) => string
  /** Whether the reader's credential still counts; asked again and again. */
  readonly mayRead: () => boolean
}

/** One reader of the feed: a place in it, and a connection that takes what it can. */
export interface EventStream {
  /** Writes what there is, as far as the reader takes it. */
  pump(): void
  /** Called every `tickMs`. */
  tick(): void
  end(why: string): void
}

export const tickMs = 5_000
/** Proxies close what is quiet for a minute; WHATWG HTML §9.2.7 advises a comment each 15 s. */
const ticksToHeartbeat = 3
/** Whoever takes nothing for a minute is not there any more. */
const ticksToDrop = 12
/** More is not made before the reader took it: what is unread costs this much memory at most. */
const eventsAtOnce = 32
const credentialEnded = 'the credential of this stream counts no more'

/**
 * Writes the feed to a response as `text/event-stream`; `pump` begins it. There is no queue: a reader that is slow stays where it is in
 * the ring, and is told when that place was overwritten.
 */
export function createEventStream(
  feed: ServiceEventFeed,
  request: EventStreamRequest,
  onEnd: () => void,
): EventStream {
  const { response, headers, wants, mayRead, textOf = eventsText } = request
  let place = request.after ?? feed.lastId
  let isOver = false
  let isFull = false
  let quietTicks = 0
  let fullTicks = 0

  function over(): void {
    if (isOver) return
    isOver = true
    response.off('drain', onDrain)
    onEnd()
  }

  function onDrain(): void {
    isFull = false
    fullTicks = 0
    pump()
  }

  function write(text: string): void {
    quietTicks = 0
    isFull = !response.write(text)
  }

  function end(why: string): void {
    if (isOver) return
    over()
    // What is full would keep the goodbye until its reader wakes up.
    if (isFull) response.destroy()
    else response.end(endingText(why))
  }

  function pump(): void {
    if (!mayRead()) end(credentialEnded)
    while (!isOver && !isFull) {
      const { events, isGap } = feed.read(place, eventsAtOnce)
      const last = events.at(-1)
      if (last === undefined && !isGap) return
      const wanted = events.filter(wants)
      const text = wanted.length === 0 ? '' : textOf(wanted)
      place = last?.id ?? feed.lastId
      if (isGap) write(gapText + text)
      else if (text !== '') write(text)
    }
  }

  response.on('drain', onDrain)
  response.once('close', over)
  // A connection that breaks while we write is over, and nothing worse.
  response.on('error', over)
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies of the nginx kind hold back what they buffer.
    'x-accel-buffering': 'no',
  })
  write(openingText(request.after === undefined ? place : undefined))

  return {
    pump,
    tick() {
      if (isOver) return
      if (!mayRead()) return end(credentialEnded)
      quietTicks += 1
      fullTicks = isFull ? fullTicks + 1 : 0
      if (fullTicks >= ticksToDrop) response.destroy()
      else if (!isFull && quietTicks >= ticksToHeartbeat) write(heartbeatText(place))
    },
    end,
  }
}

function eventsText(events: readonly ServiceEvent[]): string {
  return events.map(eventText).join('')
}
