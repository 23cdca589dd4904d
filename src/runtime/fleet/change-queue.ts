import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Timers } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { AuditEntry, FleetChange, FleetState } from '../../core/fleet.ts'
import type { Log } from '../../core/log.ts'
import type { FleetStore } from '../../state/store.ts'
import type { FleetMemory } from './fleet-memory.ts'

/** What a check found: a change as it is to be written, or nothing at all to change. */
export interface FleetPlan<Answer> {
  /** None: everything is as it should be already, and neither change nor audit is written. */
  readonly changes: readonly FleetChange[]
  readonly audit: readonly AuditEntry[]
  /** Of the fleet as it is with this change. */
  readonly answer: () => Answer
  /** Once it is in force; must not throw and must not block. */
  readonly after?: () => void
}

export interface ChangeQueue {
  /**
   * Checks and writes one change after the other, so that what a check saw still holds when its change is written.
   * What resolves is on disk and in force (view and memory).
   * @throws ServiceError of the check; STATE_UNAVAILABLE when the store cannot write it or others wait too long already:
   *   then nothing changed here
   */
  change<Answer>(
    plan: () => FleetPlan<Answer> | Promise<FleetPlan<Answer>>,
    options?: { readonly dryRun?: boolean },
  ): Promise<Answer>
  /** Runs alone, between two changes; for what replaces everything. */
  alone<Answer>(run: () => Promise<Answer>): Promise<Answer>
  /** Reads everything anew from the store. */
  reload(): Promise<void>
  /** Why the last change could not be written; nothing since one was. */
  trouble(): string | undefined
  stop(): Promise<void>
}

export interface ChangeQueueOptions {
  readonly store: Pick<FleetStore, 'writeFleet' | 'loadFleet'>
  readonly memory: FleetMemory
  /** Makes the next packet see it. */
  readonly view: {
    apply(changes: readonly FleetChange[]): void
    load(state: FleetState): void
  }
  /** After everything was read anew. */
  readonly onLoaded?: () => void
  /** A change is on disk and in force, with this in the audit list; must not throw. */
  readonly onChanged?: (audit: readonly AuditEntry[]) => void
  readonly timers: Timers
  readonly log: Log
}

/** Longer than this nobody waits for those before him: what hangs is the disk. */
const longestQueueMs = 10_000
const inDoubtRetryMs = 2_000
const changesPerSlice = 500

export function createChangeQueue(options: ChangeQueueOptions): ChangeQueue {
  const { store, memory, view, timers, log } = options
  let last: Promise<unknown> = Promise.resolve()
  /** A write failed, and may have reached the disk all the same: nothing is checked against a memory that may be old. */
  let isInDoubt = false
  let cancelRetry: (() => void) | undefined
  let isStopped = false
  let trouble: string | undefined

  function inTurn<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    let isLate = false
    let hasBegun = false
    const late = new Promise<never>((_, reject) => {
      const cancel = timers.after(longestQueueMs, () => {
        if (hasBegun) return
        isLate = true
        reject(tooManyWait())
      })
      last.finally(cancel).catch(() => {})
    })
    late.catch(() => {})
    const turn = last.then(async () => {
      if (isLate) throw tooManyWait()
      hasBegun = true
      return run()
    })
    last = turn.catch(() => {})
    return Promise.race([turn, late])
  }

  function apply(changes: readonly FleetChange[]): void {
    memory.apply(changes)
    view.apply(changes)
  }

  /** Of very many changes some count a moment before the others, so that boots are answered in between. */
  async function putInForce(changes: readonly FleetChange[]): Promise<void> {
    for (let first = 0; first < changes.length; first += changesPerSlice) {
      if (first > 0) await nextTurn()
      apply(changes.slice(first, first + changesPerSlice))
    }
  }

  async function load(): Promise<void> {
    const state = await store.loadFleet()
    memory.load(state)
    view.load(state)
    isInDoubt = false
    options.onLoaded?.()
  }

  function doubt(): void {
    isInDoubt = true
    if (cancelRetry !== undefined || isStopped) return
    cancelRetry = timers.after(inDoubtRetryMs, () => {
      cancelRetry = undefined
      if (!isInDoubt) return
      inTurn(load).catch((error: unknown) => {
        log.warn({ error: String(error) }, 'whether the last change was written is not known yet')
        doubt()
      })
    })
  }

  function asIf<Answer>({ changes, answer }: FleetPlan<Answer>): Answer {
    const inverse = memory.inverse(changes)
    // In one turn of the loop: no boot is decided in between.
    apply(changes)
    try {
      return answer()
    } finally {
      apply(inverse)
    }
  }

  return {
    change: (check, { dryRun = false } = {}) =>
      inTurn(async () => {
        if (isInDoubt) await load()
        const plan = await check()
        if (dryRun) return asIf(plan)
        if (plan.changes.length === 0) return plan.answer()
        try {
          await store.writeFleet({ changes: plan.changes, audit: plan.audit })
        } catch (error) {
          trouble = error instanceof Error ? error.message : String(error)
          doubt()
          throw error
        }
        trouble = undefined
        await putInForce(plan.changes)
        plan.after?.()
        options.onChanged?.(plan.audit)
        return plan.answer()
      }),
    alone: inTurn,
    reload: load,
    trouble: () => trouble,
    async stop() {
      isStopped = true
      cancelRetry?.()
      await last
    },
  }
}

function tooManyWait(): ServiceError {
  return new ServiceError(
    'STATE_UNAVAILABLE',
    'the state store is slow and other changes wait for it; this one was not begun',
    { hint: 'nothing was changed; try again in a while' },
  )
}
