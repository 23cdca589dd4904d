import type { BootEvent, BootId } from '../core/boot-event.ts'
import { type BootimageLease, type BootLease, isLeasing, longestBootAttemptMs } from '../core/boot-lease.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { MacAddress } from '../core/mac.ts'

/** Boot attempts that are kept one by one; some 10 MB in memory, and as much on the disk. */
export const mostBootLeases = 50_000

export interface LeasesOptions {
  /** How many boot attempts are kept one by one at most; default `mostBootLeases`. */
  readonly maximum?: number
}

/**
 * Which bootimages running boots hold (G6), in memory, and the batches that a writer takes to the store.
 * Times are ms since the epoch.
 */
export interface Leases {
  /** Begins the lease of a new boot attempt; it stands for one of this machine that never fetched anything. */
  start(attempt: BootLease): void
  /** A sign of life: the lease lasts from now. Unknown ids are ignored; they are any text a client sent. */
  touch(bootId: BootId, now: number): void
  /**
   * Its machine reported that it is up, or installed: this boot holds its bootimage no longer. It is known on, and holds
   * it again when it shows life after all. That it ended is not written down: after a restart it is leased once more,
   * until its time is over.
   */
  end(bootId: BootId): void
  /** As far as it is kept one by one. */
  attemptOf(bootId: BootId): BootLease | undefined
  /** Bootimages that garbage collection must keep. */
  leasedBootimages(now: number): ReadonlySet<BootimageId>
  /**
   * Attempts that began or showed life since the last call, each once, in their newest form; at most `maximum`, the
   * others stay for the next call.
   */
  takeUnsaved(maximum?: number): readonly BootLease[]
  /** After a batch could not be saved: those attempts belong to the next one, unless they are over by then. */
  returnUnsaved(attempts: readonly BootLease[]): void
  /** The leases of attempts that are not kept one by one. */
  mergedLeases(): readonly BootimageLease[]
  /**
   * Takes up what an earlier process saved, attempts and leases that stand for some; what is over by now is left out. A
   * time that is yet to come, from a clock that was wrong, counts as now: nothing is leased for ever.
   */
  restore(
    saved: { readonly attempts: readonly BootLease[]; readonly leases: readonly BootimageLease[] },
    now: number,
  ): void
  readonly size: number
  /** Attempts that were too many to be kept one by one; their bootimages stay leased for the full time. */
  readonly merged: number
}

/**
 * The boot whose lease ends by what happened: its machine says that it is up or installed, so it has all of its files
 * (G6). One that failed may try again with the same ones.
 */
export function leaseEndedBy(event: BootEvent): BootId | undefined {
  return event.type === 'reported' && event.status !== 'failed' ? event.bootId : undefined
}

/**
 * A flood of machines cannot grow this without end: the attempt that was silent for longest leaves first. If it is
 * not over, its bootimage stays leased as long as it would have been, so that no boot in progress loses its files (G6);
 * only whose boot that was is forgotten.
 */
export function createLeases({ maximum = mostBootLeases }: LeasesOptions = {}): Leases {
  /** In the order of their last sign of life, oldest first. */
  const attempts = new Map<BootId, BootLease>()
  const unsaved = new Set<BootId>()
  /** The newest attempt of each card. */
  const newest = new Map<MacAddress, BootLease>()
  /** Those of them that hold nothing any more. */
  const ended = new Set<BootId>()
  /** How many attempts lease each bootimage, so that nobody has to walk them all to know. */
  const holders = new Map<BootimageId, number>()
  /** Until when bootimages of merged attempts are leased. As many entries as there are bootimages. */
  const mergedUntil = new Map<BootimageId, number>()
  /** Room is made for many at once: finding the oldest entry of a Map costs as much as entries have left before it. */
  const roomFor = Math.ceil(maximum / 16)
  let merged = 0

  function keep(attempt: BootLease): void {
    const { bootId, bootimage } = attempt
    const wasThere = attempts.delete(bootId)
    if (ended.delete(bootId) || !wasThere) holders.set(bootimage, (holders.get(bootimage) ?? 0) + 1)
    attempts.set(bootId, attempt)
  }

  function letGo({ bootimage }: BootLease): void {
    const left = (holders.get(bootimage) ?? 0) - 1
    if (left > 0) holders.set(bootimage, left)
    else holders.delete(bootimage)
  }

  function forget(attempt: BootLease): void {
    const { bootId, mac } = attempt
    attempts.delete(bootId)
    unsaved.delete(bootId)
    if (mac !== undefined && newest.get(mac)?.bootId === bootId) newest.delete(mac)
    if (!ended.delete(bootId)) letGo(attempt)
  }

  /**
   * A machine that asks anew before it fetched anything has one boot, not two: a hall that asks again and again costs
   * neither memory nor writing.
   */
  function replaceBefore({ mac, host, bootimage, lastSeenAt }: BootLease): void {
    const before = mac === undefined ? undefined : newest.get(mac)
    if (before === undefined || before.host !== host || before.bootimage !== bootimage) return
    // A clock that was set back shortens nothing.
    if (lastSeenAt < before.lastSeenAt) return
    if (attempts.get(before.bootId) === before && before.lastSeenAt === before.startedAt) forget(before)
  }

  function forgetOver(now: number): void {
    // A clock that was set back leaves older times behind younger ones: those are kept longer, never shorter.
    for (const attempt of attempts.values()) {
      if (isLeasing(attempt, now)) break
      forget(attempt)
    }
    for (const [bootimage, until] of mergedUntil) if (until <= now) mergedUntil.delete(bootimage)
  }

  function makeRoom(now: number): void {
    if (attempts.size < maximum) return
    forgetOver(now)
    for (const attempt of attempts.values()) {
      if (attempts.size <= maximum - roomFor) return
      const { bootId, bootimage, lastSeenAt } = attempt
      const until = lastSeenAt + longestBootAttemptMs
      if (!ended.has(bootId)) mergedUntil.set(bootimage, Math.max(until, mergedUntil.get(bootimage) ?? 0))
      forget(attempt)
      merged += 1
    }
  }

  return {
    start(attempt) {
      replaceBefore(attempt)
      makeRoom(attempt.lastSeenAt)
      keep(attempt)
      if (attempt.mac !== undefined) newest.set(attempt.mac, attempt)
      unsaved.add(attempt.bootId)
    },
    touch(bootId, now) {
      const attempt = attempts.get(bootId)
      if (attempt === undefined || now <= attempt.lastSeenAt) return
      keep({ ...attempt, lastSeenAt: now })
      unsaved.add(bootId)
    },
    end(bootId) {
      const attempt = attempts.get(bootId)
      if (attempt === undefined || ended.has(bootId)) return
      letGo(attempt)
      ended.add(bootId)
    },
    attemptOf: (bootId) => attempts.get(bootId),
    leasedBootimages(now) {
      forgetOver(now)
      return new Set([...holders.keys(), ...mergedUntil.keys()])
    },
    takeUnsaved(most = Infinity) {
      const batch: BootLease[] = []
      for (const bootId of unsaved) {
        if (batch.length >= most) break
        unsaved.delete(bootId)
        const attempt = attempts.get(bootId)
        if (attempt !== undefined) batch.push(attempt)
      }
      return batch
    },
    returnUnsaved(batch) {
      for (const { bootId } of batch) if (attempts.has(bootId)) unsaved.add(bootId)
    },
    mergedLeases: () =>
      [...mergedUntil].map(([bootimage, until]) => ({ bootimage, lastSeenAt: until - longestBootAttemptMs })),
    restore(saved, now) {
      for (const { bootimage, lastSeenAt } of saved.leases) {
        const until = Math.min(lastSeenAt, now) + longestBootAttemptMs
        if (until > now) mergedUntil.set(bootimage, Math.max(until, mergedUntil.get(bootimage) ?? 0))
      }
      const running = saved.attempts
        .map((attempt) => (attempt.lastSeenAt > now ? { ...attempt, lastSeenAt: now } : attempt))
        .filter((attempt) => isLeasing(attempt, now) && !attempts.has(attempt.bootId))
      const newest = running.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt)
      const begun = [...attempts.values()]
      attempts.clear()
      holders.clear()
      ended.clear()
      for (const attempt of [...newest, ...begun]) {
        makeRoom(now)
        keep(attempt)
      }
    },
    get size() {
      return attempts.size
    },
    get merged() {
      return merged
    },
  }
}
