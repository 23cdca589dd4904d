import type { BlobStore } from '../artifacts/blob-store.ts'
import { type GcPlan, planGc } from '../artifacts/plan-gc.ts'
import { longestBootAttemptMs } from '../core/boot-lease.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { Clock } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import type { BlobIndex } from './blob-index.ts'
import type { Ledger } from './ledger.ts'

export interface GarbageCollectorOptions {
  readonly ledger: Ledger
  readonly blobs: Pick<BlobStore, 'remove'>
  readonly blobIndex: BlobIndex
  /** How many previous bootimages stay; `undefined` for a stream that is not configured: nothing of it is current. */
  readonly keepOf: (stream: string) => number | undefined
  readonly pinned: () => ReadonlySet<BootimageId>
  readonly leased: () => ReadonlySet<BootimageId>
  /** Files of admins, which no bootimage names. */
  readonly isExtra: (sha256: Sha256) => boolean
  /** Publishes a snapshot without what is about to go. */
  readonly publish: () => void
  /** When this process began to know of boots in progress. */
  readonly startedAt: number
  readonly clock: Clock
  readonly log: Log
}

export interface GarbageCollector {
  plan(): GcPlan
  /** Runs a plan; what is in the way of one removal does not stop the others. */
  run(): Promise<GcPlan>
}

/** Removes what nothing needs (G6): first from the state, then from the snapshot, then from the disk. */
export function createGarbageCollector(options: GarbageCollectorOptions): GarbageCollector {
  const { ledger, blobIndex, clock, log } = options

  function plan(): GcPlan {
    return planGc({
      blobs: [...blobIndex.facts]
        .filter(([sha256]) => !options.isExtra(sha256))
        .map(([sha256, { sizeBytes, modifiedAt }]) => ({ sha256, sizeBytes, modifiedAt })),
      bootimages: [...ledger.bootimages.values()],
      heads: [...ledger.heads.values()].filter(({ stream }) => options.keepOf(stream) !== undefined),
      pins: [...options.pinned()].map((bootimage) => ({ bootimage })),
      leased: options.leased(),
      derived: ledger.derived,
      keep: (stream) => options.keepOf(stream) ?? 0,
      now: clock.now(),
      startedAt: options.startedAt,
      longestAttemptMs: longestBootAttemptMs,
    })
  }

  return {
    plan,
    async run() {
      const planned = plan()
      for (const id of planned.evicted) await ledger.setState(id, { state: 'known' })
      await forgetEvicted(ledger, new Set(planned.evicted))
      if (planned.evicted.length > 0) options.publish()
      for (const { sha256, sizeBytes, why } of planned.remove) {
        // A pin may have asked for it since: what is wanted by now stays.
        if (!plan().remove.some((entry) => entry.sha256 === sha256)) continue
        try {
          await options.blobs.remove(sha256)
          await blobIndex.remove(sha256)
          log.info({ sha256, sizeBytes, why }, 'artifact removed')
        } catch (error) {
          log.warn({ sha256, error: String(error) }, 'artifact not removed')
        }
      }
      if (planned.remove.length > 0) options.publish()
      return planned
    },
  }
}

/** A head that still lists what is gone would promise a rollback that is not there. */
async function forgetEvicted(ledger: Ledger, evicted: ReadonlySet<BootimageId>): Promise<void> {
  for (const head of [...ledger.heads.values()]) {
    const previous = head.previous.filter((id) => !evicted.has(id))
    if (previous.length < head.previous.length) await ledger.saveHead({ ...head, previous })
  }
}
