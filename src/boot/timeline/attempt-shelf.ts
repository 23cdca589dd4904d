import type { AttemptRecord } from '../../core/boot-attempt.ts'
import { reached } from '../../core/boot-attempts/journey.ts'
import type { BootId } from '../../core/boot-event.ts'
import { type KeptAttempt, recordOf, shrinkToHead } from './kept-attempt.ts'

/** Of a machine that waits and asks for hours, the last answers are found by their ids. */
const mostBootIds = 16
/** Records of attempts that had to leave before they were saved. */
const mostLeaving = 4_096

/**
 * All attempts in memory by their names, what of them is unsaved, and who leaves when there are too many: machines
 * that no record of a host matches before hosts, what is over before what goes on, the longest ago first.
 */
export interface AttemptShelf {
  byId(id: string): KeptAttempt | undefined
  byBoot(bootId: BootId): KeptAttempt | undefined
  add(attempt: KeptAttempt): void
  nameBoot(attempt: KeptAttempt, bootId: BootId): void
  /** It has become known which host it is. */
  promote(attempt: KeptAttempt): void
  /** It is too old to be kept in memory; what of it is unsaved is saved all the same. */
  leave(attempt: KeptAttempt): void
  /** Its events have gone to another attempt; what the store has of it ends. */
  absorb(attempt: KeptAttempt): void
  changed(attempt: KeptAttempt): void
  /** It is over: of the oldest of those only a head is kept from now on. */
  ended(attempt: KeptAttempt): void
  /** It was taken for lost, and goes on. */
  resumed(attempt: KeptAttempt): void
  /** That go on. */
  open(): Iterable<KeptAttempt>
  /** In the order in which they began. */
  all(): Iterable<KeptAttempt>
  takeUnsaved(most: number): readonly AttemptRecord[]
  returnUnsaved(records: readonly AttemptRecord[]): void
  confirmSaved(records: readonly AttemptRecord[]): void
  /** That the store has nothing of, in the order in which they began. */
  notInStore(): Iterable<KeptAttempt>
  readonly size: number
}

export function createAttemptShelf({
  mostAttempts,
  mostEnded,
  onLeave,
}: {
  readonly mostAttempts: number
  /** Attempts that are over and still have all their events. */
  readonly mostEnded: number
  readonly onLeave: (attempt: KeptAttempt) => void
}): AttemptShelf {
  const byId = new Map<string, KeptAttempt>()
  const byBoot = new Map<BootId, KeptAttempt>()
  const strangers = new Set<KeptAttempt>()
  const open = new Set<KeptAttempt>()
  const unsaved = new Set<KeptAttempt>()
  const unsavedStrangers = new Set<KeptAttempt>()
  const whole = new Set<KeptAttempt>()
  const notInStore = new Set<KeptAttempt>()
  const leaving: AttemptRecord[] = []
  /** Room is made for many at once: finding the first entry of a Map costs as much as entries have left before it. */
  const roomFor = Math.ceil(mostAttempts / 16)

  function isStranger({ host }: KeptAttempt): boolean {
    return host === undefined
  }

  /** A packet that anybody can make up is not worth a row; a machine that fetched something is. */
  function isWorthSaving(attempt: KeptAttempt): boolean {
    return !isStranger(attempt) || attempt.journey.level > reached.nothing
  }

  function remove(attempt: KeptAttempt): void {
    open.delete(attempt)
    byId.delete(attempt.id)
    strangers.delete(attempt)
    unsaved.delete(attempt)
    unsavedStrangers.delete(attempt)
    whole.delete(attempt)
    notInStore.delete(attempt)
    for (const bootId of attempt.bootIds) if (byBoot.get(bootId) === attempt) byBoot.delete(bootId)
  }

  function leave(attempt: KeptAttempt): void {
    if (attempt.isUnsaved && isWorthSaving(attempt) && leaving.length < mostLeaving) {
      leaving.push(recordOf(attempt))
    }
    remove(attempt)
    onLeave(attempt)
  }

  function makeRoom(): void {
    const keep = mostAttempts - roomFor
    for (const attempt of strangers) {
      if (byId.size <= keep) return
      leave(attempt)
    }
    for (const attempt of byId.values()) {
      if (byId.size <= keep) return
      if (attempt.outcome !== undefined) leave(attempt)
    }
    for (const attempt of byId.values()) {
      if (byId.size <= keep) return
      leave(attempt)
    }
  }

  return {
    byId: (id) => byId.get(id),
    byBoot: (bootId) => byBoot.get(bootId),
    add(attempt) {
      if (byId.size >= mostAttempts) makeRoom()
      byId.set(attempt.id, attempt)
      if (attempt.outcome === undefined) open.add(attempt)
      if (isStranger(attempt)) strangers.add(attempt)
      if (!attempt.isInStore) notInStore.add(attempt)
    },
    nameBoot(attempt, bootId) {
      attempt.bootId = bootId
      attempt.bootIds.push(bootId)
      byBoot.set(bootId, attempt)
      if (attempt.bootIds.length <= mostBootIds) return
      const oldest = attempt.bootIds.shift()
      if (oldest !== undefined && byBoot.get(oldest) === attempt) byBoot.delete(oldest)
    },
    promote(attempt) {
      strangers.delete(attempt)
      if (unsavedStrangers.delete(attempt)) unsaved.add(attempt)
    },
    leave,
    absorb(attempt) {
      remove(attempt)
      if (!attempt.wasSaved) return
      const { startedAt, lastAt } = attempt
      const outcome = 'superseded'
      leaving.push({ ...recordOf(attempt), startedAt, outcome, endedAt: lastAt, events: [], leftOut: 0 })
    },
    changed(attempt) {
      if (attempt.isUnsaved || !isWorthSaving(attempt)) return
      attempt.isUnsaved = true
      const queue = isStranger(attempt) ? unsavedStrangers : unsaved
      queue.add(attempt)
    },
    resumed: (attempt) => open.add(attempt),
    ended(attempt) {
      open.delete(attempt)
      whole.delete(attempt)
      whole.add(attempt)
      // Many at once, as room is made.
      if (whole.size <= mostEnded + Math.floor(mostEnded / 16)) return
      for (const oldest of whole) {
        if (whole.size <= mostEnded) return
        // What the store has not got yet waits, up to a point.
        if (oldest.isUnsaved && whole.size <= 2 * mostEnded) return
        whole.delete(oldest)
        if (oldest.outcome !== undefined) shrinkToHead(oldest)
      }
    },
    open: () => open,
    all: () => byId.values(),
    takeUnsaved(most) {
      const batch = leaving.splice(0, most)
      for (const queue of [unsaved, unsavedStrangers]) {
        for (const attempt of queue) {
          if (batch.length >= most) return batch
          queue.delete(attempt)
          attempt.isUnsaved = false
          attempt.repeatedSince = undefined
          attempt.wasSaved = true
          batch.push(recordOf(attempt))
        }
      }
      return batch
    },
    returnUnsaved(records) {
      for (const record of records) {
        const attempt = byId.get(record.id)
        if (attempt === undefined) {
          if (leaving.length < mostLeaving) leaving.push(record)
        } else if (!attempt.isUnsaved) {
          attempt.isUnsaved = true
          const queue = isStranger(attempt) ? unsavedStrangers : unsaved
          queue.add(attempt)
        }
      }
    },
    confirmSaved(records) {
      for (const { id } of records) {
        const attempt = byId.get(id)
        if (attempt === undefined || attempt.isInStore) continue
        attempt.isInStore = true
        notInStore.delete(attempt)
      }
    },
    notInStore: () => notInStore,
    get size() {
      return byId.size
    },
  }
}
