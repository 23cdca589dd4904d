import type { Clock } from '../core/clock.ts'
import type {
  EventSubject,
  PublishEvent,
  ServiceEvent,
  ServiceEventFeed,
  ServiceEventType,
} from '../core/service-event.ts'

export interface ServiceFeed extends ServiceEventFeed {
  readonly publish: PublishEvent
}

export interface ServiceFeedOptions {
  /** Events that are kept for those who read later. */
  readonly most?: number
  readonly clock: Clock
  /** Start of the service, in ms: tells the ids of this run from those of others. */
  readonly epoch: number
  /** Puts off what wakes the readers, so that many events of one turn of the event loop wake them once. */
  readonly defer?: (run: () => void) => unknown
}

const usualMost = 8192

/**
 * A ring of the last events. Publishing keeps one small object and wakes whoever follows at the end of the turn; what
 * an event says is made when it is read first.
 */
export function createServiceEventFeed({
  most = usualMost,
  clock,
  epoch,
  defer = setImmediate,
}: ServiceFeedOptions): ServiceFeed {
  const run = epoch.toString(36)
  const ring: ServiceEvent[] = []
  const followers = new Set<() => void>()
  let last = 0
  let isWaking = false

  function wakeAll(): void {
    isWaking = false
    for (const wake of [...followers]) {
      if (followers.has(wake)) wake()
    }
  }

  /** The number in an id of this run that was handed out; `undefined` for all others. */
  function numberOf(id: string): number | undefined {
    if (!id.startsWith(`${run}-`)) return undefined
    const digits = id.slice(run.length + 1)
    if (!/^(?:0|[1-9]\d{0,15})$/.test(digits)) return undefined
    const number = Number(digits)
    return number <= last ? number : undefined
  }

  return {
    get lastId() {
      return `${run}-${last}`
    },
    publish(type, make, about) {
      last += 1
      ring[last % most] = createEvent(`${run}-${last}`, type, clock.now(), make, about)
      if (isWaking || followers.size === 0) return
      isWaking = true
      defer(wakeAll)
    },
    read(after, mostEvents) {
      const seen = numberOf(after)
      const oldest = Math.max(1, last - most + 1)
      const from = Math.max(oldest, (seen ?? 0) + 1)
      const to = Math.min(last, from + mostEvents - 1)
      const events: ServiceEvent[] = []
      for (let number = from; number <= to; number += 1) {
        const event = ring[number % most]
        if (event !== undefined) events.push(event)
      }
      return { events, isGap: seen === undefined || seen + 1 < oldest }
    },
    follow(wake) {
      // One that follows twice ends twice.
      const own = () => wake()
      followers.add(own)
      return () => void followers.delete(own)
    },
  }
}

function createEvent(
  id: string,
  type: ServiceEventType,
  at: number,
  make: () => object,
  about: EventSubject | undefined,
): ServiceEvent {
  let data: string | undefined
  let source: (() => object) | undefined = make
  return {
    id,
    type,
    at,
    ...(about !== undefined && { about }),
    get data() {
      if (data === undefined && source !== undefined) {
        data = JSON.stringify(source())
        // What it was made of is not held any longer than it must.
        source = undefined
      }
      return data ?? '{}'
    },
  }
}
