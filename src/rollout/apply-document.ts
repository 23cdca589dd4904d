import type { Arch } from '../core/arch.ts'
import { artifactsOf, type Bootimage, type BootimageId } from '../core/bootimage.ts'
import type { ChangeClass, ChangePolicies } from '../core/change.ts'
import { pendingChangeText } from '../core/pending-change-text.ts'
import type { BootimageRecord, DocumentRecord, RefreshWrite, StreamHead } from '../state/store.ts'
import { classifyChange } from '../streams/classify-change.ts'
import type { MetadataProblem } from '../streams/metadata.ts'
import { planChange } from '../streams/plan-change.ts'
import type { Ledger } from './ledger.ts'

export interface ApplyDocumentInput {
  readonly document: DocumentRecord
  readonly resolution: {
    readonly bootimages: readonly Bootimage[]
    readonly problems: readonly MetadataProblem[]
  }
  /** Followed by configuration. */
  readonly architectures: readonly Arch[]
  readonly policies: ChangePolicies
  /** Digest of the document that this stream was last read from. */
  readonly lastDocument?: string
  /** Whether the canonical source offers the same; absent where the document came from it. */
  readonly canonicalAgrees?: (arch: Arch) => boolean
  /** Ms since the epoch. */
  readonly now: number
}

/** What one architecture's part of a document meant, for the log. */
export interface ChangeNotice {
  readonly arch: Arch
  readonly change: ChangeClass
  readonly action: 'follow' | 'keep' | 'confirm' | 'hold'
  readonly release?: string
  readonly accepted?: string
  /** Why it is not followed, in the words of every other place that tells it (G10); absent where it is. */
  readonly reason?: string
}

export interface AppliedDocument {
  readonly write: RefreshWrite
  /** Targets that are accepted now and were not before. */
  readonly followed: readonly BootimageId[]
  /** Known bootimages whose state must change with the acceptance. */
  readonly requeued: readonly BootimageId[]
  readonly notices: readonly ChangeNotice[]
}

/**
 * What a document changes, for every followed architecture by itself (G9). Pure: nothing that is served changes
 * here; a target only becomes current when its whole set is verified. Architectures that nobody follows are noted as
 * known, so that a pin can find them.
 */
export function applyDocument(
  ledger: Pick<Ledger, 'bootimages' | 'headOf'>,
  input: ApplyDocumentInput,
): AppliedDocument {
  const { document, resolution, now } = input
  const bootimages: BootimageRecord[] = []
  const heads: StreamHead[] = []
  const relocated: Bootimage[] = []
  const followed: BootimageId[] = []
  const requeued: BootimageId[] = []
  const notices: ChangeNotice[] = []

  for (const arch of input.architectures) {
    const offered = resolution.bootimages.find((candidate) => candidate.arch === arch)
    const head = ledger.headOf(document.stream, arch)
    const accepted = bootimageOf(ledger, head.target ?? head.current)
    const problem = resolution.problems.find((candidate) => candidate.arch === arch)
    const change = classifyChange({
      accepted,
      offered,
      sameDocument: document.digest === input.lastDocument,
      problem,
      history: historyOf(ledger, document.stream, arch),
      wasReady: ({ id }) => ledger.bootimages.get(id)?.readyAt !== undefined,
    })
    const plan = planChange({
      change,
      offered,
      policies: input.policies,
      pending: head.pending,
      canonicalAgrees: input.canonicalAgrees?.(arch),
      now,
    })
    const isFollowed = plan.action === 'follow' && offered !== undefined
    const reason =
      'pending' in plan
        ? pendingChangeText(document.stream, plan.pending)
        : refusalText({ arch, change, accepted, offered, problem })
    notices.push({
      arch,
      change,
      action: plan.action,
      release: offered?.release,
      accepted: accepted?.release,
      ...(reason !== undefined && { reason }),
    })
    heads.push({
      ...head,
      lastChange: change,
      pending: 'pending' in plan ? plan.pending : undefined,
      ...(isFollowed ? { target: offered.id, changedAt: now } : {}),
    })
    if (isFollowed) followed.push(offered.id)
    if (offered === undefined) continue
    const known = ledger.bootimages.get(offered.id)
    if (known === undefined) {
      const state = isFollowed ? 'queued' : plan.action === 'hold' ? 'held' : 'known'
      bootimages.push({ bootimage: offered, document: document.digest, state, firstSeenAt: now })
    } else if (isFollowed && (known.state === 'known' || known.state === 'held')) {
      requeued.push(offered.id)
    }
  }
  for (const bootimage of resolution.bootimages) {
    const known = ledger.bootimages.get(bootimage.id)
    // Hosts of old documents go away (facts §2): the same bytes are fetched from where they are now.
    if (known !== undefined && !isSamePlace(known.bootimage, bootimage)) relocated.push(bootimage)
    if (input.architectures.includes(bootimage.arch) || ledger.bootimages.has(bootimage.id)) continue
    bootimages.push({ bootimage, document: document.digest, state: 'known', firstSeenAt: now })
  }
  return { write: { document, bootimages, heads, relocated }, followed, requeued, notices }
}

/** Why there is nothing to follow in what a document says of an architecture. */
function refusalText({
  arch,
  change,
  accepted,
  offered,
  problem,
}: {
  readonly arch: Arch
  readonly change: ChangeClass
  readonly accepted?: Bootimage
  readonly offered?: Bootimage
  readonly problem?: MetadataProblem
}): string | undefined {
  if (change === 'withdrawn') return `the document has nothing for ${arch}`
  if (change !== 'partial') return undefined
  if (problem !== undefined) return problem.message
  return `${offered?.release} is not whole: it lacks the live image or the rootfs that ${accepted?.release} has`
}

function bootimageOf(ledger: Pick<Ledger, 'bootimages'>, id: BootimageId | undefined): Bootimage | undefined {
  return id === undefined ? undefined : ledger.bootimages.get(id)?.bootimage
}

/**
 * What this stream once accepted: neither held nor only named. A set that garbage collection took is known again, but
 * was ready once.
 */
function historyOf(ledger: Pick<Ledger, 'bootimages'>, stream: string, arch: Arch): readonly Bootimage[] {
  const history: Bootimage[] = []
  for (const { bootimage, state, readyAt } of ledger.bootimages.values()) {
    if (bootimage.stream !== stream || bootimage.arch !== arch || state === 'held') continue
    if (state !== 'known' || readyAt !== undefined) history.push(bootimage)
  }
  return history
}

function isSamePlace(known: Bootimage, offered: Bootimage): boolean {
  const placesOf = (bootimage: Bootimage) =>
    artifactsOf(bootimage).map(({ location, signature }) => `${location} ${signature}`)
  return placesOf(known).join() === placesOf(offered).join()
}
