import type { Timers } from '../core/clock.ts'
import type { PublishEvent } from '../core/service-event.ts'
import type { StreamSummary } from '../http/admin/operations.ts'

export interface StreamWatch {
  /** Something may have changed: a snapshot was published, or a fetch moves on. */
  note(): void
  stop(): void
}

export interface StreamWatchOptions {
  /** Every stream as it is now. */
  readonly summaries: () => readonly StreamSummary[]
  readonly publish: PublishEvent
  /** What became of it, for whoever compares. */
  readonly onChange?: (before: StreamSummary | undefined, now: StreamSummary) => void
  readonly timers: Timers
}

/** However fast bytes come in, whoever follows a fetch hears of it this often. */
const everyMs = 1_000

/**
 * Tells what streams hand out, fetch and hold as it changes, at most once a second. How often they are asked for is no
 * change: a refresh that found nothing new is not told. What there is at the beginning is not told either.
 */
export function createStreamWatch({ summaries, publish, onChange, timers }: StreamWatchOptions): StreamWatch {
  const told = new Map<string, { readonly text: string; readonly summary: StreamSummary }>()
  let cancel: (() => void) | undefined
  let isBegun = false

  function look(): void {
    cancel = undefined
    const now = summaries()
    for (const summary of now) {
      const text = tellingText(summary)
      const before = told.get(summary.name)
      if (before?.text === text) continue
      told.set(summary.name, { text, summary })
      if (!isBegun) continue
      publish('stream', () => summary)
      onChange?.(before?.summary, summary)
    }
    const names = new Set(now.map(({ name }) => name))
    for (const name of [...told.keys()]) if (!names.has(name)) told.delete(name)
    isBegun = true
  }

  look()
  return {
    note() {
      cancel ??= timers.after(everyMs, look)
    },
    stop() {
      cancel?.()
    },
  }
}

/** All of a summary that is news. */
function tellingText({ lastSuccessAt: _, lastAttemptAt: __, ...telling }: StreamSummary): string {
  return JSON.stringify(telling)
}
