import type { Artifact } from '../core/artifact.ts'
import { errorTexts, ServiceError } from '../core/errors.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { displayUrl } from '../upstream/display-url.ts'
import type { BlobStat, BlobStore } from './blob-store.ts'
import type { FetchRequest, VerifiedSignature } from './fetcher.ts'
import type { FileSystem } from './file-system.ts'
import { hashFile } from './hash-file.ts'
import type { Layout } from './layout.ts'
import { signatureLocationsOf } from './locations.ts'
import { openSource } from './open-source.ts'
import { ownHeaders } from './own-headers.ts'
import { largestSignatureBytes, readSignature, signatureDigest } from './read-signature.ts'
import type { SignatureVerdict } from './signature.ts'
import { storing } from './storage-error.ts'
import type { TrustedKey } from './trusted-keys.ts'
import { writeDurably } from './write-durably.ts'

const retryAfterMs = 1000

export interface SignatureCheckOptions {
  readonly fs: FileSystem
  readonly layout: Layout
  readonly store: Pick<BlobStore, 'quarantine' | 'makeWay'>
  readonly upstream: UpstreamClient
  readonly keys: readonly TrustedKey[]
  readonly blockBytes: number
  readonly now: () => number
  /** Resolves after `delayMs`, rejects with the signal's reason. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Applies a stream's signature policy to a blob whose digest is right already. Returns the good signature that is kept
 * beside it; nothing where none was checked.
 *
 * A signature that is not there, whoever says so and however, is only a lack: `if-present` does without it, `required`
 * waits for it (field case 134). One that is there must be good. Only a trusted key that signed other bytes says
 * something about the file, and sends it to quarantine; that is the same under both policies.
 * @throws ServiceError SIGNATURE_MISSING, SIGNATURE_INVALID, SIGNATURE_KEY_EXPIRED, STORAGE_FAILED
 */
export async function checkSignature(
  request: Pick<FetchRequest, 'artifact' | 'mirrors' | 'headers' | 'signatures'>,
  blob: BlobStat,
  options: SignatureCheckOptions,
): Promise<VerifiedSignature | undefined> {
  const { artifact, signatures: policy } = request
  const { fs, layout, keys } = options
  const path = layout.signature(artifact.sha256)
  if (policy === 'off') return undefined
  if (keys.length === 0) {
    if (policy === 'if-present') return undefined
    throw signatureError(artifact, 'SIGNATURE_INVALID', 'a signature is required, but no key is trusted')
  }
  // It was good by the keys of whoever fetched it; another stream may trust others.
  const kept = await readSignature(fs, path)
  if (kept && (await judge(kept.bytes, blob, options)).kind === 'good') return kept.signature
  const notes: string[] = []
  let worst: SignatureVerdict | undefined
  for (const { url } of signatureLocationsOf(artifact, request.mirrors)) {
    const fetched = await fetchSignature(artifact, url, ownHeaders(artifact, url, request.headers), options)
    if (fetched.kind === 'absent') {
      notes.push(fetched.why)
      continue
    }
    const verdict = await judge(fetched.bytes, blob, options)
    if (verdict.kind === 'good') {
      await options.store.makeWay(artifact.sha256)
      const { identity } = await storing('writing', path, () => writeDurably(fs, path, fetched.bytes))
      return { sha256: signatureDigest(fetched.bytes), identity }
    }
    notes.push(`${displayUrl(url)}: ${verdict.why}`)
    // A mirror is not to be trusted with a bad signature any more than with a good one: the others are asked too.
    if (verdict.kind !== 'unreadable') worst = moreTelling(worst, verdict)
  }
  return concludeWithout(request, worst, notes, options)
}

async function concludeWithout(
  { artifact, signatures: policy }: Pick<FetchRequest, 'artifact' | 'signatures'>,
  worst: SignatureVerdict | undefined,
  notes: readonly string[],
  { store }: SignatureCheckOptions,
): Promise<undefined> {
  const why = notes.join('; ')
  if (worst === undefined) {
    if (policy === 'if-present') return undefined
    throw signatureError(artifact, 'SIGNATURE_MISSING', why || 'the document names none')
  }
  if (worst.kind === 'key-expired') throw signatureError(artifact, 'SIGNATURE_KEY_EXPIRED', why, worst)
  const error = signatureError(artifact, 'SIGNATURE_INVALID', why, worst)
  if (worst.kind === 'wrong') await store.quarantine(artifact.sha256, error.message)
  throw error
}

function moreTelling(before: SignatureVerdict | undefined, next: SignatureVerdict): SignatureVerdict {
  if (before === undefined || next.kind === 'wrong') return next
  return before
}

async function judge(
  signature: Uint8Array,
  blob: BlobStat,
  options: SignatureCheckOptions,
): Promise<SignatureVerdict> {
  const { fs, blockBytes, signal, keys, now } = options
  const { verifySignature } = await import('./signature.ts')
  return verifySignature({
    signature,
    keys,
    now: now(),
    hash: async (algorithm, prefix, suffix) => {
      const { path, identity } = blob
      const hashed = await storing('reading', path, () =>
        hashFile({ fs, path, identity, algorithm, prefix, suffix, blockBytes, signal }),
      )
      return hashed.digest
    },
  })
}

type FetchedSignature =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'absent'; readonly why: string }

async function fetchSignature(
  artifact: Artifact,
  url: string,
  headers: Readonly<Record<string, string>>,
  options: SignatureCheckOptions,
): Promise<FetchedSignature> {
  const { signal } = options
  const request = {
    artifact: { ...artifact, name: `${artifact.name}.sig` },
    url,
    headers,
    revalidate: false,
    signal,
  }
  let opened = await openSource(request, options)
  if (opened.kind === 'failed' && opened.outcome.kind === 'unavailable') {
    await options.pause(retryAfterMs, signal)
    opened = await openSource(request, options)
  }
  if (opened.kind === 'failed') return { kind: 'absent', why: opened.error.message }
  if (opened.kind !== 'open') return { kind: 'absent', why: 'nothing came' }
  const { source } = opened
  try {
    const bytes = await collect(source.body)
    return bytes ? { kind: 'bytes', bytes } : { kind: 'absent', why: 'what came is too long for a signature' }
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'absent', why: error instanceof Error ? error.message : String(error) }
  } finally {
    await source.discard()
  }
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += chunk.length
    if (sizeBytes > largestSignatureBytes) return undefined
    chunks.push(Uint8Array.from(chunk))
  }
  return Buffer.concat(chunks)
}

function signatureError(
  artifact: Artifact,
  code: 'SIGNATURE_MISSING' | 'SIGNATURE_INVALID' | 'SIGNATURE_KEY_EXPIRED',
  why: string,
  verdict?: SignatureVerdict,
): ServiceError {
  const keyId = verdict && 'keyId' in verdict ? { keyId: verdict.keyId } : {}
  const step = 'checking the signature of'
  const details = { artifact: artifact.name, sha256: artifact.sha256, step, ...keyId }
  return new ServiceError(
    code,
    `${step} ${artifact.role} ${artifact.name}: ${errorTexts[code]}: ${why}`,
    details,
  )
}
