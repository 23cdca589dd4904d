/** Something that changed, for whoever follows the service: the page, `GET /api/v1/events`, webhooks, `--follow`. */
export interface ServiceEvent {
  /** `<start of the service>-<number>`; growing, and unlike those of another run. */
  readonly id: string
  /**
   * `boot`: an attempt moved (a `BootSummary`). `stream`: what a stream hands out, fetches or holds changed (a
   * `StreamSummary`). `change`: an admin or a report changed something (an `AuditSummary`).
   */
  readonly type: ServiceEventType
  /** Ms since the epoch. */
  readonly at: number
  /** The machine that it tells of, for whoever follows that one alone. */
  readonly about?: EventSubject
  /** JSON in one line; made when it is first read, for all who read it, and what it tells of is as it is then. */
  readonly data: string
}

export interface EventSubject {
  /** Id of a host. */
  readonly host?: string
  readonly mac?: string
}

export const serviceEventTypes = ['boot', 'stream', 'change'] as const
export type ServiceEventType = (typeof serviceEventTypes)[number]

/**
 * The last events, in a ring of bounded size. Whoever follows keeps a place in it and reads on when woken: a slow
 * reader holds nothing up and costs no memory, it only misses what was overwritten and is told so.
 */
export interface ServiceEventFeed {
  /** Id of the newest event; where somebody begins who wants only what is to come. */
  readonly lastId: string
  /** What came after an id, oldest first; `isGap` when some of it is not there any more, or the id is unknown. */
  read(after: string, most: number): { readonly events: readonly ServiceEvent[]; readonly isGap: boolean }
  /** Calls `wake` when there is more to read, not once for each event. Returns what ends it. */
  follow(wake: () => void): () => void
}

/** Where events come from: `make` is called when somebody reads it, once for all, and not before. */
export type PublishEvent = (type: ServiceEventType, make: () => object, about?: EventSubject) => void

/** The feed of a data directory that no service uses, and of whoever asks a service from outside. */
export const silentFeed: ServiceEventFeed = {
  lastId: '0-0',
  read: () => ({ events: [], isGap: false }),
  follow: () => () => {},
}
