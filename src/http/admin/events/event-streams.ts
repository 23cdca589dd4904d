import type { Clock, Timers } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { ServiceEventFeed } from '../../../core/service-event.ts'
import { createEventStream, type EventStream, type EventStreamRequest, tickMs } from './event-stream.ts'

/** Everybody who follows the service over one listener. */
export interface EventStreams {
  /**
   * Answers with a stream that ends with its connection, its credential or the service.
   * @param address whose it is; absent: it is not counted for one (control socket)
   * @throws ServiceError SERVICE_UNAVAILABLE when there are too many, RATE_LIMITED when there are too many of one address
   */
  open(request: EventStreamRequest & { readonly address?: string }): void
  readonly count: number
  /** Ends all; a new one is refused from then on. */
  close(): void
}

export interface EventStreamsOptions {
  readonly feed: ServiceEventFeed
  readonly clock: Clock
  readonly timers: Timers
  /** Streams in all. */
  readonly most?: number
  readonly mostOfAddress?: number
}

const usualMost = 256
const usualMostOfAddress = 32
const retryAfterSeconds = 10
/** A credential that was looked at so lately is not looked at again. */
const credentialMs = 1_000

export function createEventStreams({
  feed,
  clock,
  timers,
  most = usualMost,
  mostOfAddress = usualMostOfAddress,
}: EventStreamsOptions): EventStreams {
  const streams = new Set<EventStream>()
  const ofAddress = new Map<string, number>()
  let isClosed = false
  let unfollow: (() => void) | undefined
  let cancelTick: (() => void) | undefined

  function refuse(address: string | undefined): void {
    if (isClosed) throw full('the service is stopping')
    if (streams.size >= most) throw full(`${most} event streams are open, and there are no more`)
    if (address === undefined || (ofAddress.get(address) ?? 0) < mostOfAddress) return
    throw new ServiceError(
      'RATE_LIMITED',
      `${mostOfAddress} event streams of this address are open already`,
      {
        retryAfterSeconds,
        hint: 'close some of them; one stream tells of all machines and streams',
      },
    )
  }

  function count(address: string | undefined, by: 1 | -1): void {
    if (address === undefined) return
    const now = (ofAddress.get(address) ?? 0) + by
    if (now === 0) ofAddress.delete(address)
    else ofAddress.set(address, now)
  }

  function tickAll(): void {
    cancelTick = timers.after(tickMs, tickAll)
    for (const stream of [...streams]) stream.tick()
  }

  /** One follower of the feed and one timer for all streams, as long as there are any. */
  function wakeUp(): void {
    unfollow ??= feed.follow(() => {
      for (const stream of [...streams]) stream.pump()
    })
    cancelTick ??= timers.after(tickMs, tickAll)
  }

  function rest(): void {
    unfollow?.()
    cancelTick?.()
    unfollow = undefined
    cancelTick = undefined
  }

  return {
    open({ address, ...request }) {
      refuse(address)
      // Gone while it was let in: nothing would tell us of its end.
      if (request.response.destroyed) return
      count(address, 1)
      const stream = createEventStream(feed, { ...request, mayRead: seldom(request.mayRead, clock) }, () => {
        count(address, -1)
        streams.delete(stream)
        if (streams.size === 0) rest()
      })
      streams.add(stream)
      wakeUp()
      stream.pump()
    },
    get count() {
      return streams.size
    },
    close() {
      isClosed = true
      for (const stream of [...streams]) stream.end('the service is stopping')
    },
  }
}

function full(message: string): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', message, {
    retryAfterSeconds,
    hint: 'try again in a while, or ask for the state now and then instead',
  })
}

/** A digest for each event and reader would cost more than the events. */
function seldom(check: () => boolean, clock: Clock): () => boolean {
  let checkedAt: number | undefined
  let isGood = true
  return () => {
    const now = clock.now()
    // A clock that was set back is no reason to look away.
    if (checkedAt === undefined || Math.abs(now - checkedAt) >= credentialMs) {
      checkedAt = now
      isGood = check()
    }
    return isGood
  }
}
