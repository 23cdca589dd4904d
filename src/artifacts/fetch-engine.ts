import { setTimeout as delay } from 'node:timers/promises'
import type { Sha256 } from '../core/digest.ts'
import type { UpstreamClient, UpstreamOptions } from '../upstream/client.ts'
import { createUpstreamClient } from '../upstream/create-upstream-client.ts'
import type { BlobStat } from './blob-store.ts'
import { checkBlob } from './check-blob.ts'
import { checkSignature } from './check-signature.ts'
import { createBlobStore, prepareLayout } from './create-blob-store.ts'
import { download } from './download.ts'
import type { FetchEvent, FetchedArtifact, FetchRequest } from './fetcher.ts'
import { type FileSystem, nodeFileSystem } from './file-system.ts'
import { gunzipKernel } from './gunzip-kernel.ts'
import { type HashedBlob, hashBlob } from './hash-blob.ts'
import { defaultBlockBytes } from './incoming-file.ts'
import { layoutOf } from './layout.ts'
import { defaultReserveBytes } from './space.ts'
import type { TrustedKey } from './trusted-keys.ts'

/** Plain data, so that a worker thread can make the same engine. */
export interface FetchEngineOptions {
  readonly dataDirectory: string
  readonly upstream: UpstreamOptions
  /** Armored or binary OpenPGP public keys. */
  readonly trustedKeys: readonly (string | Uint8Array)[]
  /** Free bytes that are left alone; default 256 MiB. */
  readonly reserveBytes?: number
  /** Default 1 MiB. */
  readonly blockBytes?: number
}

/** Where the engine touches the world, for tests that run it in their own thread. */
export interface FetchEngineEdges {
  readonly fs?: FileSystem
  readonly client?: UpstreamClient
  /** Ms since the epoch. */
  readonly now?: () => number
  readonly pause?: (delayMs: number, signal: AbortSignal) => Promise<void>
}

export interface EngineResult extends FetchedArtifact {
  /** `present`: nothing had to be fetched but perhaps a signature. */
  readonly outcome: 'fetched' | 'present'
}

export interface FetchHooks {
  readonly signal: AbortSignal
  readonly onEvent: (event: FetchEvent) => void
}

/** Does the work behind a `Fetcher`, one request at a time per digest, in whatever thread it was made. */
export interface FetchEngine {
  fetch(request: FetchRequest, hooks: FetchHooks): Promise<EngineResult>
  /** The digest that a blob has now, read no faster than told; `undefined` when it is absent. */
  hash(
    sha256: Sha256,
    pace: { bytesPerSecond?: number },
    signal: AbortSignal,
  ): Promise<HashedBlob | undefined>
  close(): Promise<void>
}

export function createFetchEngine(options: FetchEngineOptions & FetchEngineEdges): FetchEngine {
  const { fs = nodeFileSystem, now = Date.now, pause = pauseFor } = options
  const { blockBytes = defaultBlockBytes, reserveBytes = defaultReserveBytes } = options
  const layout = layoutOf(options.dataDirectory)
  const upstream = options.client ?? createUpstreamClient(options.upstream)
  const store = createBlobStore({ fs, layout, clock: { now } })
  const common = { fs, layout, upstream, store, blockBytes, reserveBytes, now, pause }
  let preparing: Promise<unknown> | undefined
  const keyRings = new Map<string, Promise<readonly TrustedKey[]>>()

  async function prepare(): Promise<void> {
    preparing ??= prepareLayout(fs, layout)
    try {
      await preparing
    } catch (error) {
      preparing = undefined
      throw error
    }
  }

  async function trustedKeys(request: FetchRequest): Promise<readonly TrustedKey[]> {
    if (request.signatures === 'off') return []
    const sources = request.trustedKeys ?? options.trustedKeys
    const ring = sources.map((source) => Buffer.from(source).toString('latin1')).join('\n')
    const keys = keyRings.get(ring) ?? readKeys(sources)
    keyRings.set(ring, keys)
    return keys
  }

  function hash(sha256: Sha256, { bytesPerSecond }: { bytesPerSecond?: number }, signal: AbortSignal) {
    const pace = bytesPerSecond === undefined ? {} : { pace: { bytesPerSecond, now, pause } }
    return hashBlob(sha256, { fs, store, blockBytes, signal, ...pace })
  }

  /** What lies in the store, if it has its digest; what has only the name makes room (G1). */
  async function readAgain(sha256: Sha256, signal: AbortSignal): Promise<BlobStat | undefined> {
    const fetcher = { hash: () => hash(sha256, {}, signal) }
    const verdict = await checkBlob(sha256, { store, fetcher, signal })
    if (verdict.kind === 'good') return verdict.blob
    await store.makeWay(sha256)
    return undefined
  }

  async function verifiedBlob(
    { artifact: { sha256 }, verifiedAs }: FetchRequest,
    signal: AbortSignal,
  ): Promise<BlobStat | undefined> {
    const found = await store.stat(sha256)
    return found && found.identity === verifiedAs ? found : readAgain(sha256, signal)
  }

  return {
    async fetch(request, hooks) {
      await prepare()
      const settings = { ...common, ...hooks }
      const present = await verifiedBlob(request, hooks.signal)
      const blob = present ?? (await download(request, settings))
      hooks.signal.throwIfAborted()
      const keys = await trustedKeys(request)
      const signature = await checkSignature(request, blob, { ...settings, keys })
      const prove = (sha256: Sha256) => readAgain(sha256, hooks.signal)
      const uncompressed =
        request.gunzip && (await gunzipKernel(request.artifact, blob, { ...settings, prove }))
      const outcome = present ? 'present' : 'fetched'
      return { blob, outcome, ...(signature ? { signature } : {}), ...(uncompressed ? { uncompressed } : {}) }
    },
    hash,
    close: () => upstream.close(),
  }
}

/** OpenPGP takes 16 MiB of memory: only where it is asked for. */
async function readKeys(sources: readonly (string | Uint8Array)[]): Promise<readonly TrustedKey[]> {
  const { readTrustedKeys } = await import('./trusted-keys.ts')
  return readTrustedKeys(sources)
}

async function pauseFor(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(delayMs, undefined, { signal })
  } catch {
    signal.throwIfAborted()
  }
}
