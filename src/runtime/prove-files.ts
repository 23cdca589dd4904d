import type { Clock, Timers } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Log } from '../core/log.ts'
import type { BlobIndex } from '../rollout/blob-index.ts'
import type { FileChecker } from './check-files.ts'

/** How far the reading of doubtful files is. */
export interface ProvingProgress {
  readonly done: number
  readonly total: number
}

export interface FileProver {
  /** Begins in the background; nothing when nothing is doubtful or it goes on already. */
  start(): void
  /** `undefined` when nothing is being read. */
  progress(): ProvingProgress | undefined
  stop(): Promise<void>
}

/** Reading waits for the disk, hashing for the processor: two keep both busy. */
const filesAtOnce = 2
const tellEveryMs = 10_000
/** Files that could not be read, because the disk or the fetching thread had trouble. */
const tryAgainMs = 60_000

/**
 * Reads whatever is not as it was when it was verified, at full speed: after a start it is not there for anybody
 * before that (G1). What machines wait for comes first.
 */
export function createFileProver(options: {
  readonly blobIndex: Pick<BlobIndex, 'doubtful'>
  readonly checker: Pick<FileChecker, 'prove' | 'recover'>
  /** Digests, most urgent first; those that are not named come last. */
  readonly order: () => Iterable<Sha256>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}): FileProver {
  const { blobIndex, checker, clock, timers, log } = options
  let running: Promise<void> | undefined
  let progress: ProvingProgress | undefined
  let isStopping = false
  let cancel = () => {}

  async function run(): Promise<void> {
    const { doubtful } = blobIndex
    const queue = [...new Set([...options.order(), ...doubtful.keys()])].filter((sha256) =>
      doubtful.has(sha256),
    )
    const total = queue.length
    const bytes = queue.reduce((sum, sha256) => sum + (doubtful.get(sha256) ?? 0), 0)
    let done = 0
    let toldAt = clock.now()
    progress = { done, total }
    log.warn(
      { files: total, bytes },
      'files are not as they were when they were verified, they are read again',
    )

    async function look(sha256: Sha256): Promise<void> {
      try {
        // Somebody who needed it may have come first.
        if (!doubtful.has(sha256) || (await checker.prove(sha256))) return
        // A download takes its time; the other files need not wait for it.
        void checker.recover(sha256)
      } catch (error) {
        if (!isStopping) log.warn({ sha256, error: String(error) }, 'file could not be read again')
      }
    }

    async function work(): Promise<void> {
      for (;;) {
        const sha256 = isStopping ? undefined : queue.shift()
        if (sha256 === undefined) return
        await look(sha256)
        done += 1
        progress = { done, total }
        const now = clock.now()
        if (Math.abs(now - toldAt) < tellEveryMs) continue
        toldAt = now
        log.info(progress, 'files are being read again')
      }
    }
    await Promise.all(Array.from({ length: filesAtOnce }, work))
    if (isStopping) return
    const left = doubtful.size
    log.info({ files: total, left }, 'files were read again')
    if (left > 0) cancel = timers.after(tryAgainMs, start)
  }

  function start(): void {
    if (running !== undefined || isStopping || blobIndex.doubtful.size === 0) return
    running = run()
      .catch((error: unknown) => log.error({ error: String(error) }, 'files could not be read again'))
      .finally(() => {
        running = undefined
        progress = undefined
      })
  }

  return {
    start,
    progress: () => progress,
    async stop() {
      isStopping = true
      cancel()
      await running
    },
  }
}
