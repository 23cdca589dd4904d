import type {
  AttemptId,
  AttemptRecord,
  AttemptState,
  BootAttempt,
  Diagnosis,
} from '../../core/boot-attempt.ts'
import type { BootEvent } from '../../core/boot-event.ts'
import type { MacAddress } from '../../core/mac.ts'

/**
 * Every boot that goes on or ended lately, in memory: joins events to attempts, and tells what changed. Nothing here is
 * on the way of an answer. Times are ms since the epoch.
 */
export interface Timeline {
  /** Joins an event to its attempt: by boot id, else by MAC, else by the address that was seen with a MAC. */
  note(event: BootEvent): void
  /**
   * Finds what is overdue, over, or needs telling since the last call; called a few times a second. Everything that
   * `onChange` is told comes out of here, each attempt once, so that a thousand machines cost one pass. One call takes
   * a few ms, however many wait; returns whether there are more, to be looked at soon.
   */
  settle(now: number): boolean
  /** By attempt id or boot id. */
  attempt(id: string): BootAttempt | undefined
  /** By attempt id or boot id: what is known without reading its steps, some 100 ns. */
  glance(id: string): BootGlance | undefined
  /** The newest of each machine, in any order; reduced when asked for. */
  newest(): Iterable<BootAttempt>
  /** Of one host (by its id or any of its cards), newest first. */
  of(machine: { readonly host?: string; readonly macs?: readonly MacAddress[] }): readonly BootAttempt[]
  /** Every attempt in memory, newest first. */
  attempts(): readonly BootAttempt[]
  /**
   * Records that changed since the last call, at most so many; the others stay for the next one. One of which only
   * repetitions or the place in a file are new is among them every few seconds.
   */
  takeUnsaved(most: number): readonly AttemptRecord[]
  /** Before the service ends: those repetitions are saved too. */
  keepRepeats(): void
  /** After a batch could not be saved. */
  returnUnsaved(records: readonly AttemptRecord[]): void
  /** After a batch was saved. */
  confirmSaved(records: readonly AttemptRecord[]): void
  /** Attempts that the store has nothing of yet, or never will; oldest first, nearly. */
  notInStore(): Iterable<BootGlance>
  /** Attempts that are not over: all of them are in memory. */
  goingOn(): Iterable<BootGlance>
  /** Takes up what an earlier run kept. */
  restore(records: readonly AttemptRecord[], now: number): void
}

/** The outside of an attempt, as `settle` left it; read it at once, it changes. */
export interface BootGlance
  extends Pick<
    AttemptRecord,
    'id' | 'host' | 'mac' | 'otherMacs' | 'startedAt' | 'lastAt' | 'outcome' | 'diagnosis' | 'events'
  > {
  /** `undefined`: nobody has looked yet. */
  readonly state: AttemptState | undefined
}

export interface TimelineListeners {
  /** An attempt moved; at most once for each in one `settle`. What it is like by now, `attempt(id)` tells. */
  readonly onChange?: (id: AttemptId) => void
  /** An attempt is over, once; for metrics, webhooks, leases. */
  readonly onOver?: (attempt: BootAttempt) => void
  /** A pattern was recognised, or the next step is overdue; once for each attempt and pattern. */
  readonly onDiagnosis?: (attempt: BootAttempt, diagnosis: Diagnosis) => void
}
