import type { Fetcher, SignaturePolicy } from '../artifacts/fetcher.ts'
import { artifactsOf, type BootimageId } from '../core/bootimage.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import { isServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { BootimageRecord } from '../state/store.ts'
import type { BlobIndex } from './blob-index.ts'
import type { Ledger } from './ledger.ts'

/** How a stream's artifacts are to be fetched. */
export interface SyncSettings {
  readonly mirrors: readonly string[]
  readonly signatures: SignaturePolicy
  /** Armored OpenPGP keys. */
  readonly trustedKeys?: readonly string[]
}

export interface BootimageSyncOptions {
  readonly ledger: Ledger
  readonly fetcher: Pick<Fetcher, 'fetch'>
  readonly blobIndex: BlobIndex
  /** `undefined` when the stream is no longer configured: its sets are not fetched. */
  readonly settingsOf: (stream: string) => SyncSettings | undefined
  /** Whether anybody still wants it: decides over retries. */
  readonly isWanted: (id: BootimageId) => boolean
  /** Reads a doubtful file, which is believed or gone afterwards. @throws ServiceError when it cannot be read */
  readonly prove: (sha256: Sha256) => Promise<unknown>
  /** Called once before a set is fetched. @throws ServiceError SPACE_INSUFFICIENT */
  readonly ensureSpace: (record: BootimageRecord) => Promise<void>
  /** Called after the set is durable and recorded. */
  readonly onReady: (id: BootimageId) => Promise<void>
  /** Called whenever a state changed, for the next snapshot. */
  readonly onChanged: () => void
  /** A digest that does not match may mean that the document is older than the file (field case 142). */
  readonly refreshStream: (stream: string) => Promise<void>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

export interface BootimageSync {
  /** Fetches the set unless it is ready or on its way; resolves with its state afterwards. Never rejects. */
  ensure(id: BootimageId): Promise<BootimageRecord | undefined>
  /** The same for whoever may ask a thousand times a minute: a set that failed just now is left alone for a while. */
  want(id: BootimageId): void
  /** Checks a ready set again, because what counts as good has changed; until that is done no boot begins with it. */
  recheck(id: BootimageId): void
  /** Whether every file is there, with a good signature where its stream asks for one. */
  isComplete(record: BootimageRecord): boolean
  /** Forgets the waiting time of a failed set, because something changed that may help. */
  retryNow(id: BootimageId): void
  isBusy(): boolean
  stop(): Promise<void>
}

const firstRetryMs = 15_000
const longestRetryMs = 10 * 60_000
/** Machines that wait for a failed set bring its next try forward to this. */
const wantedRetryMs = 30_000

/** Gets whole sets: one flight per bootimage, two sets at a time, failures retried with growing pauses. */
export function createBootimageSync(options: BootimageSyncOptions): BootimageSync {
  const { ledger, fetcher, blobIndex, clock, timers, log } = options
  const flights = new Map<BootimageId, Promise<BootimageRecord | undefined>>()
  const retries = new Map<BootimageId, { failures: number; failedAt: number; cancel: () => void }>()
  const stopping = new AbortController()
  const slots = createSlots(2)

  /** @param isForced what is there is checked by the rules of now, also where nothing is missing */
  async function fetchSet(id: BootimageId, isForced: boolean): Promise<void> {
    const record = ledger.bootimages.get(id)
    const settings = record && options.settingsOf(record.bootimage.stream)
    if (record === undefined || settings === undefined) return
    const { bootimage } = record
    const doubtful = filesOf(record).filter((sha256) => blobIndex.doubtful.has(sha256))
    for (const sha256 of doubtful) await options.prove(sha256)
    if (!isForced && doubtful.length > 0 && record.state === 'ready' && isComplete(record)) return
    await options.ensureSpace(record)
    await ledger.setState(id, { state: 'downloading' })
    options.onChanged()
    let kernelUncompressed = record.kernelUncompressed
    for (const artifact of artifactsOf(bootimage)) {
      const gunzip = artifact.role === 'kernel' && bootimage.arch === 'aarch64'
      const verifiedAs = blobIndex.facts.get(artifact.sha256)?.identity
      const request = { artifact, ...settings, gunzip, ...(verifiedAs && { verifiedAs }) }
      const fetched = await fetcher.fetch(request, stopping.signal)
      await blobIndex.add(fetched.blob, fetched.signature)
      if (fetched.uncompressed === undefined) continue
      await blobIndex.add(fetched.uncompressed)
      kernelUncompressed = fetched.uncompressed.sha256
      await ledger.addDerived({
        sha256: kernelUncompressed,
        from: artifact.sha256,
        how: 'gunzip',
        at: clock.now(),
      })
    }
    await ledger.setState(id, { state: 'ready', readyAt: clock.now(), kernelUncompressed })
    log.info({ bootimage: id }, 'bootimage ready')
    await options.onReady(id)
  }

  async function fetchOrExplain(id: BootimageId, isForced: boolean): Promise<void> {
    try {
      await fetchSet(id, isForced)
      retries.get(id)?.cancel()
      retries.delete(id)
    } catch (error) {
      if (stopping.signal.aborted) return
      await recordFailure(id, error)
    } finally {
      options.onChanged()
    }
  }

  async function recordFailure(id: BootimageId, error: unknown): Promise<void> {
    const code = isServiceError(error) ? error.code : 'STORAGE_FAILED'
    const message = error instanceof Error ? error.message : String(error)
    const state = code === 'SIGNATURE_MISSING' ? 'pending-signature' : 'failed'
    const failures = (retries.get(id)?.failures ?? 0) + 1
    const pauseMs = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs)
    log.warn({ bootimage: id, code, retryInSeconds: pauseMs / 1000, error: message }, 'bootimage not fetched')
    try {
      await ledger.setState(id, { state, failure: { code, message, at: clock.now() } })
    } catch (storeError) {
      log.error({ bootimage: id, error: String(storeError) }, 'failure of a bootimage not recorded')
    }
    retries.get(id)?.cancel()
    const cancel = timers.after(pauseMs, () => {
      if (options.isWanted(id)) void ensure(id)
    })
    retries.set(id, { failures, failedAt: clock.now(), cancel })
    if (code === 'ARTIFACT_DIGEST_MISMATCH' && failures === 1) {
      const stream = ledger.bootimages.get(id)?.bootimage.stream
      if (stream !== undefined) await options.refreshStream(stream).catch(() => {})
    }
  }

  function ensure(id: BootimageId): Promise<BootimageRecord | undefined> {
    const running = flights.get(id)
    if (running !== undefined) return running
    const record = ledger.bootimages.get(id)
    if (record === undefined || stopping.signal.aborted) return Promise.resolve(record)
    if (record.state === 'ready' && isComplete(record)) return Promise.resolve(record)
    return fly(id)
  }

  function fly(id: BootimageId, isForced = false): Promise<BootimageRecord | undefined> {
    const flight = slots
      .run(() => fetchOrExplain(id, isForced))
      .then(() => {
        flights.delete(id)
        return ledger.bootimages.get(id)
      })
    flights.set(id, flight)
    return flight
  }

  function isComplete(record: BootimageRecord): boolean {
    const derived = record.kernelUncompressed
    if (derived !== undefined && !blobIndex.facts.has(derived)) return false
    const needsSignatures = options.settingsOf(record.bootimage.stream)?.signatures === 'required'
    return artifactsOf(record.bootimage).every(({ sha256 }) => {
      const facts = blobIndex.facts.get(sha256)
      return facts !== undefined && (!needsSignatures || facts.signaturePath !== undefined)
    })
  }

  return {
    ensure,
    recheck(id) {
      const isIdle = !flights.has(id) && !stopping.signal.aborted
      if (isIdle && ledger.bootimages.get(id)?.state === 'ready') void fly(id, true)
    },
    isComplete,
    want(id) {
      const failedAt = retries.get(id)?.failedAt
      if (failedAt === undefined || clock.now() - failedAt >= wantedRetryMs) void ensure(id)
    },
    retryNow(id) {
      const retry = retries.get(id)
      if (retry === undefined) return
      retry.cancel()
      retries.delete(id)
      void ensure(id)
    },
    isBusy: () => flights.size > 0,
    async stop() {
      stopping.abort()
      for (const { cancel } of retries.values()) cancel()
      retries.clear()
      await Promise.allSettled(flights.values())
    },
  }
}

/** Every file that a set is made of, derived ones too. */
export function filesOf({ bootimage, kernelUncompressed }: BootimageRecord): readonly Sha256[] {
  const files = artifactsOf(bootimage).map(({ sha256 }) => sha256)
  return kernelUncompressed === undefined ? files : [...files, kernelUncompressed]
}

interface Slots {
  run<T>(task: () => Promise<T>): Promise<T>
}

/** At most `limit` tasks at once, first come, first served. */
function createSlots(limit: number): Slots {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async run(task) {
      if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await task()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}
