import type { ServiceEvent, ServiceEventType } from '../core/service-event.ts'
import type { OfflineOperations } from '../runtime/service.ts'

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
  /** Id of the last event that is known; absent: what is to come, and a gap to begin with, once the service listens. */
  readonly after?: string
  /** Ends it, also while it waits. */
  readonly signal: AbortSignal
}

/** Follows what changes in a running service, over restarts of it, until the signal aborts. */
export type Follow = (options: FollowOptions) => AsyncIterable<Followed>

/** A service that runs, as commands reach it: its operations, and what changes in it. */
export interface RunningService extends OfflineOperations {
  readonly follow: Follow
}
