import { createHash } from 'node:crypto'
import type { Clock, Timers } from '../core/clock.ts'
import type { Sha256 } from '../core/digest.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Metadata, ParseHints, Resolution } from './metadata.ts'
import { parseMetadata } from './parse-document.ts'
import { defaultRetry, nextRefreshDelayMs, type RefreshSchedule } from './refresh-schedule.ts'
import { resolveBootimages } from './resolve.ts'
import type { MetadataSource, SourceAnswer, Validators } from './sources/source.ts'

/** A document as one refresh found it, read and resolved. */
export interface RefreshedDocument {
  readonly stream: string
  readonly bytes: Uint8Array
  readonly digest: Sha256
  /** URL or file path it came from, without credentials. */
  readonly url: string
  readonly viaMirror: boolean
  /** Ms since the epoch; the last time the source said this. */
  readonly fetchedAt: number
  readonly metadata: Metadata
  readonly resolution: Resolution
}

export interface RefreshFailure {
  readonly code: string
  readonly message: string
  /** Ms since the epoch. */
  readonly at: number
}

export type RefreshOutcome =
  | { readonly kind: 'document' | 'unchanged'; readonly document: RefreshedDocument }
  | { readonly kind: 'failed'; readonly failure: RefreshFailure }
  | { readonly kind: 'stopped' }

export interface RefresherOptions {
  /** Our name for the stream, which its bootimages carry. */
  readonly stream: string
  readonly source: MetadataSource
  readonly hints: ParseHints
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to below 1; spreads the refreshes of many services. */
  readonly random: () => number
  readonly log: Log
  readonly refreshMs: number
  readonly retry?: RefreshSchedule['retry']
  /** One refresh, over all locations. */
  readonly attemptTimeoutMs?: number
  /** A document other than the last one. When it throws, the document counts as not seen and comes again. */
  readonly onDocument: (document: RefreshedDocument) => void | Promise<void>
  /** The last document again, or word that it still stands: a refresh that confirms what was pending (G9). */
  readonly onUnchanged: (document: RefreshedDocument) => void | Promise<void>
  /** Nothing came; nothing that is served or decided changes (G4). */
  readonly onFailure: (failure: RefreshFailure) => void
}

export interface Refresher {
  /** Refreshes now and from then on; an aborted signal stops it. */
  start(signal?: AbortSignal): void
  /**
   * One refresh; joins the one that is under way. Never rejects.
   * `fresh`: past every cache on the way, for when an artifact did not have the digest that the document says.
   */
  refreshNow(how?: { readonly fresh?: boolean }): Promise<RefreshOutcome>
  /**
   * What the canonical place says, past mirrors; for confirming what came by one.
   * @throws ServiceError METADATA_UNAVAILABLE, METADATA_INVALID
   */
  fetchCanonical(): Promise<RefreshedDocument>
  /** Ends timers, watching and the refresh under way; no callback comes afterwards. Twice is fine. */
  stop(): Promise<void>
}

const defaultAttemptTimeoutMs = 2 * 60_000

/** Follows the metadata of one stream. It keeps nothing but the last document: what changes, the callbacks decide. */
export function createRefresher(options: RefresherOptions): Refresher {
  const { stream, source, clock, timers, log } = options
  const baseUrl = options.hints.baseUrl ?? source.baseUrl
  const hints = { ...options.hints, ...(baseUrl !== undefined && { baseUrl }) }
  const schedule = { refreshMs: options.refreshMs, retry: options.retry ?? defaultRetry }
  const stopped = new AbortController()
  let last: { readonly document: RefreshedDocument; readonly validators?: Validators } | undefined
  let flight: { readonly fresh: boolean; readonly outcome: Promise<RefreshOutcome> } | undefined
  let failuresInARow = 0
  let isStarted = false
  let hasChangedMeanwhile = false
  let cancelTimer: (() => void) | undefined
  let stopWatching: (() => void) | undefined

  const read = (bytes: Uint8Array) => {
    const metadata = parseMetadata(bytes, hints)
    return { metadata, resolution: resolveBootimages(metadata, stream) }
  }
  type Answer = SourceAnswer<ReturnType<typeof read>>

  function describe(answer: Extract<Answer, { kind: 'document' }>): RefreshedDocument {
    const { url, viaMirror, bytes, document } = answer
    const digest = createHash('sha256').update(bytes).digest('hex') as Sha256
    return { stream, bytes, digest, url, viaMirror, fetchedAt: clock.now(), ...document }
  }

  /** Ends the attempt when it takes too long or the refresher is stopped. */
  async function bounded<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeoutMs = options.attemptTimeoutMs ?? defaultAttemptTimeoutMs
    const tooSlow = new AbortController()
    const cancel = timers.after(timeoutMs, () => {
      const message = `${source.description}: gave no document within ${timeoutMs / 1000} s`
      tooSlow.abort(new ServiceError('METADATA_UNAVAILABLE', message, { place: source.description }))
    })
    try {
      return await run(AbortSignal.any([tooSlow.signal, stopped.signal]))
    } finally {
      cancel()
    }
  }

  async function refresh(fresh: boolean): Promise<RefreshOutcome> {
    const since = last?.validators
    const answer: Answer = await bounded((signal) =>
      source.fetch({ read, signal, fresh, ...(since && { since }) }),
    )
    stopped.signal.throwIfAborted()
    if (answer.kind === 'unchanged') return confirm(answer)
    const document = describe(answer)
    const isNew = document.digest !== last?.document.digest
    await (isNew ? options.onDocument(document) : options.onUnchanged(document))
    // Only now: a document that nobody could record must come again, unconditionally.
    last = { document, ...(answer.validators && { validators: answer.validators }) }
    return { kind: isNew ? 'document' : 'unchanged', document }
  }

  async function confirm({ url, viaMirror }: Answer): Promise<RefreshOutcome> {
    if (last === undefined)
      throw new ServiceError('METADATA_UNAVAILABLE', `${url}: says unchanged, but since what?`)
    const document = { ...last.document, url, viaMirror, fetchedAt: clock.now() }
    await options.onUnchanged(document)
    last = { ...last, document }
    return { kind: 'unchanged', document }
  }

  async function attempt(fresh: boolean): Promise<RefreshOutcome> {
    hasChangedMeanwhile = false
    cancelTimer?.()
    try {
      const outcome = await refresh(fresh)
      failuresInARow = 0
      return outcome
    } catch (error) {
      if (stopped.signal.aborted) return { kind: 'stopped' }
      failuresInARow++
      const failure = describeFailure(error)
      report(failure)
      return { kind: 'failed', failure }
    }
  }

  function describeFailure(error: unknown): RefreshFailure {
    const at = clock.now()
    if (isServiceError(error)) return { code: error.code, message: error.message, at }
    log.error({ stream, err: error }, 'refreshing a stream failed unexpectedly')
    return { code: 'METADATA_UNAVAILABLE', message: `${source.description}: ${(error as Error).message}`, at }
  }

  /** Whoever listens must not be able to end the refreshing. */
  function report(failure: RefreshFailure): void {
    try {
      options.onFailure(failure)
    } catch (err) {
      log.error({ stream, err }, 'reporting a failed refresh failed')
    }
  }

  function scheduleNext(): void {
    if (!isStarted || stopped.signal.aborted) return
    const regularMs = nextRefreshDelayMs(schedule, failuresInARow, options.random())
    const delayMs = hasChangedMeanwhile ? 0 : regularMs
    cancelTimer = timers.after(delayMs, () => void refreshNow())
  }

  function refreshNow({ fresh = false } = {}): Promise<RefreshOutcome> {
    if (stopped.signal.aborted) return Promise.resolve({ kind: 'stopped' })
    if (flight !== undefined && fresh && !flight.fresh)
      return flight.outcome.then(() => refreshNow({ fresh }))
    flight ??= {
      fresh,
      outcome: attempt(fresh).finally(() => {
        flight = undefined
        scheduleNext()
      }),
    }
    return flight.outcome
  }

  function onSourceChange(): void {
    hasChangedMeanwhile = flight !== undefined
    if (flight === undefined) void refreshNow()
  }

  async function stop(): Promise<void> {
    stopped.abort(new Error('stopped'))
    cancelTimer?.()
    stopWatching?.()
    await flight?.outcome
  }

  return {
    start(signal) {
      if (isStarted || stopped.signal.aborted) return
      isStarted = true
      if (signal?.aborted) return void stop()
      signal?.addEventListener('abort', () => void stop(), { once: true })
      stopWatching = source.watch?.(onSourceChange)
      void refreshNow()
    },
    refreshNow,
    async fetchCanonical() {
      const answer: Answer = await bounded((signal) => source.fetch({ read, signal, canonical: true }))
      if (answer.kind === 'document') return describe(answer)
      throw new ServiceError('METADATA_UNAVAILABLE', `${answer.url}: says unchanged, but since what?`)
    },
    stop,
  }
}
