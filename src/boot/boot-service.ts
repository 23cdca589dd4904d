import type { BootDecision } from '../core/boot-decision.ts'
import type { BootId, TraceId } from '../core/boot-event.ts'
import type { BootClient } from '../core/client.ts'

/** A decision with the boot id that was minted for it. */
export interface BootAnswer {
  readonly decision: BootDecision
  readonly bootId: BootId
}

/** Answers every protocol's one question: what shall this machine boot? */
export interface BootService {
  /**
   * Decides, mints a boot id, leases the bootimage and records the event. Synchronous: memory only.
   * @param trace that the question belongs to
   */
  answer(client: BootClient, trace?: TraceId): BootAnswer
  /** The same decision without any trace: for HEAD, `explain` and the API. */
  explain(client: BootClient): BootDecision
  /** Keeps a boot's lease alive while it transfers files. Unknown ids are ignored. */
  touch(bootId: BootId): void
}
