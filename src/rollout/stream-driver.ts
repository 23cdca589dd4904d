import type { Arch } from '../core/arch.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { StreamHealth } from '../core/catalog.ts'
import type { ChangeClass, ChangePolicies } from '../core/change.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { DocumentRecord } from '../state/store.ts'
import type { Resolution } from '../streams/metadata.ts'
import { type AppliedDocument, applyDocument } from './apply-document.ts'
import type { Ledger } from './ledger.ts'
import { promote } from './promote.ts'

export interface FollowSettings {
  readonly architectures: readonly Arch[]
  readonly policies: ChangePolicies
  readonly keep: number
}

/** A document that was fetched, parsed and archived. */
export interface ReadDocument {
  readonly document: DocumentRecord
  readonly resolution: Resolution
  readonly lastModified?: number
  /** It came from a metadata mirror, so a going-back needs the canonical source's word. */
  readonly viaMirror: boolean
}

/** What a stream last said of itself, for the catalog. */
export interface StreamReading {
  readonly label?: string
  readonly lastModified?: number
  readonly health: StreamHealth
}

export interface StreamDriverOptions {
  readonly ledger: Ledger
  /** `undefined` when the stream is not configured (any more). */
  readonly settingsOf: (stream: string) => FollowSettings | undefined
  /** What the canonical source offers now; `undefined` when it cannot be asked. */
  readonly askCanonical: (stream: string) => Promise<Resolution | undefined>
  readonly ensure: (id: BootimageId) => void
  readonly onChanged: () => void
  /** One architecture's part of a document was not followed; once for each refresh that found it so. */
  readonly onRefused?: (change: ChangeClass) => void
  readonly clock: Clock
  readonly log: Log
}

/** Takes documents to targets and ready targets to current; one step after the other, each durable before it counts. */
export interface StreamDriver {
  read(document: ReadDocument): Promise<void>
  /** The source was asked and has nothing new. */
  unchanged(stream: string): Promise<void>
  failed(stream: string, failure: { readonly code: string; readonly message: string }): void
  /** A bootimage is complete and recorded: where it is a stream's target, it becomes current. */
  settle(id: BootimageId): Promise<void>
  /** What a crash left between ready and current. */
  settleAll(): Promise<void>
  readings(): ReadonlyMap<string, StreamReading>
  /** Starts from what the store remembers of a stream's documents. */
  remember(stream: string, document: DocumentRecord | undefined): void
  forget(stream: string): void
}

export function createStreamDriver(options: StreamDriverOptions): StreamDriver {
  const { ledger, clock, log } = options
  const readings = new Map<string, StreamReading>()
  const lastDocuments = new Map<string, ReadDocument>()
  const lastDigests = new Map<string, string>()
  let queue: Promise<unknown> = Promise.resolve()

  /** Refreshes and promotions write heads, so only one of them runs at a time. */
  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = queue.then(task)
    queue = turn.catch(() => {})
    return turn
  }

  async function apply(read: ReadDocument): Promise<void> {
    const { stream } = read.document
    const settings = options.settingsOf(stream)
    if (settings === undefined) return
    const input = {
      document: read.document,
      resolution: read.resolution,
      architectures: settings.architectures,
      policies: settings.policies,
      lastDocument: lastDigests.get(stream),
      now: clock.now(),
    }
    let applied = applyDocument(ledger, input)
    if (read.viaMirror && applied.notices.some(({ change }) => change === 'rolled-back')) {
      const canonical = await options.askCanonical(stream)
      const canonicalAgrees = (arch: Arch) =>
        setDigestOf(canonical, arch) !== undefined &&
        setDigestOf(canonical, arch) === setDigestOf(read.resolution, arch)
      applied = applyDocument(ledger, { ...input, canonicalAgrees })
    }
    await ledger.recordRefresh(applied.write)
    for (const id of applied.requeued) await ledger.setState(id, { state: 'queued' })
    lastDigests.set(stream, read.document.digest)
    lastDocuments.set(stream, read)
    tell(stream, applied)
    for (const id of applied.followed) await settleNow(id)
    noteSuccess(read, applied)
    options.onChanged()
    for (const id of applied.followed) options.ensure(id)
  }

  function tell(stream: string, { notices }: AppliedDocument): void {
    for (const notice of notices) {
      const { change, action } = notice
      if (change === 'unchanged') continue
      const isRefused = change === 'withdrawn' || change === 'partial'
      if (isRefused || action === 'hold') log.warn({ stream, ...notice }, 'stream change not followed')
      else log.info({ stream, ...notice }, 'stream change')
      if (isRefused || notice.reason !== undefined) options.onRefused?.(change)
    }
  }

  function noteSuccess({ document, resolution, lastModified }: ReadDocument, { notices }: AppliedDocument) {
    const now = clock.now()
    const problems = resolution.problems.map(({ arch, message }) => ({ arch, message }))
    for (const { arch, change, accepted, reason } of notices) {
      const isTold = problems.some((problem) => problem.arch === arch)
      // What was never there is not missed: a document that never named an architecture is told by the decision.
      const isMissed = change === 'partial' || (change === 'withdrawn' && accepted !== undefined)
      if (!isTold && isMissed && reason !== undefined) problems.push({ arch, message: reason })
    }
    readings.set(document.stream, {
      label: document.label,
      lastModified,
      health: { lastSuccessAt: now, lastAttemptAt: now, problems },
    })
  }

  async function settleNow(id: BootimageId): Promise<void> {
    const record = ledger.bootimages.get(id)
    if (record?.state !== 'ready') return
    const { stream, arch, release } = record.bootimage
    const head = ledger.headOf(stream, arch)
    const keep = options.settingsOf(stream)?.keep ?? head.previous.length + 1
    const promoted = promote(head, { ready: id, keep, now: clock.now() })
    if (promoted === head) return
    await ledger.saveHead(promoted)
    log.info({ stream, arch, release, bootimage: id }, 'bootimage is current')
  }

  return {
    read: (document) => inTurn(() => apply(document)),
    unchanged: (stream) =>
      inTurn(async () => {
        const last = lastDocuments.get(stream)
        // Saying the same again counts: a rollback waits for its second refresh.
        if (last !== undefined)
          await apply({ ...last, document: { ...last.document, lastSeenAt: clock.now() } })
      }),
    failed(stream, { code, message }) {
      const before = readings.get(stream)
      const now = clock.now()
      const health: StreamHealth = {
        problems: [],
        ...before?.health,
        lastAttemptAt: now,
        failingSince: before?.health.failingSince ?? now,
        error: { code, message },
      }
      readings.set(stream, { ...before, health })
      options.onChanged()
    },
    settle: (id) => inTurn(() => settleNow(id)),
    settleAll: () =>
      inTurn(async () => {
        for (const { target } of ledger.heads.values()) if (target !== undefined) await settleNow(target)
      }),
    readings: () => readings,
    remember(stream, document) {
      if (document === undefined || readings.has(stream)) return
      lastDigests.set(stream, document.digest)
      readings.set(stream, {
        label: document.label,
        health: { lastSuccessAt: document.lastSeenAt, problems: [] },
      })
    },
    forget(stream) {
      readings.delete(stream)
      lastDigests.delete(stream)
      lastDocuments.delete(stream)
    },
  }
}

function setDigestOf(resolution: Resolution | undefined, arch: Arch): string | undefined {
  return resolution?.bootimages.find((bootimage) => bootimage.arch === arch)?.setDigest
}
