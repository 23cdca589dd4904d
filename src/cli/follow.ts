import type { ServiceEvent, ServiceEventType } from '../core/service-event.ts'

/** What a follower of a running service comes to know. */
export type Followed =
  | { readonly kind: 'event'; readonly event: ServiceEvent }
  /** Some events are not there any more (another run of the service, or too many at once): look at everything anew. */
  | { readonly kind: 'gap' }
  /** The service does not answer; it is asked again until it does. Told once. */
  | { readonly kind: 'lost'; readonly why: string }
  /** It answers again, and goes on after the last event. */
  | { readonly kind: 'resumed' }

export interface FollowOptions {
  readonly types: readonly ServiceEventType[]
  /** Id of the last event that is known; absent: only what is to come. */
  readonly after?: string
  /** Ends it, also while it waits. */
  readonly signal: AbortSignal
}

/** Follows what changes in a running service, over restarts of it, until the signal aborts. */
export type Follow = (options: FollowOptions) => AsyncIterable<Followed>
