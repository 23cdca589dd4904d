import { beforeEach, describe, expect, it } from 'vitest'
import type { BlobStat } from '../../src/artifacts/blob-store.ts'
import type { FetchedArtifact, FetchRequest } from '../../src/artifacts/fetcher.ts'
import type { BlobFacts } from '../../src/catalog/build-catalog.ts'
import type { Arch } from '../../src/core/arch.ts'
import type { Bootimage } from '../../src/core/bootimage.ts'
import { defaultChangePolicies } from '../../src/core/change.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { ServiceError } from '../../src/core/errors.ts'
import type { BlobIndex } from '../../src/rollout/blob-index.ts'
import { type BootimageSync, createBootimageSync } from '../../src/rollout/bootimage-sync.ts'
import { type Ledger, openLedger } from '../../src/rollout/ledger.ts'
import { createStreamDriver, type ReadDocument, type StreamDriver } from '../../src/rollout/stream-driver.ts'
import type { StateStore } from '../../src/state/store.ts'
import { makeBootimage, sha256Of, someIdentity } from '../fakes/bootimages.ts'
import { createManualTime, type ManualTime, settled } from '../fakes/manual-time.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

/** A fetcher whose downloads the test answers one by one, or all at once. */
function createFakeFetcher() {
  const requests: FetchRequest[] = []
  const failures = new Map<Sha256, ServiceError>()
  let gate: Promise<void> = Promise.resolve()
  return {
    requests,
    failures,
    holdUntil(promise: Promise<void>) {
      gate = promise
    },
    async fetch(request: FetchRequest): Promise<FetchedArtifact> {
      requests.push(request)
      await gate
      const { sha256 } = request.artifact
      const failure = failures.get(sha256)
      if (failure !== undefined) throw failure
      const blob = { sha256, sizeBytes: 10, modifiedAt: 1, path: `/blobs/${sha256}`, identity: someIdentity }
      if (request.gunzip !== true) return { blob }
      const uncompressed = { ...blob, sha256: sha256Of(`gunzip ${sha256}`) }
      return { blob, uncompressed }
    },
  }
}

function createFakeIndex(): BlobIndex {
  const facts = new Map<Sha256, BlobFacts>()
  return {
    facts,
    get doubtful() {
      return new Map([...doubtful].map(([sha256, { sizeBytes }]) => [sha256, sizeBytes]))
    },
    add: async ({ sha256, ...found }) => {
      facts.set(sha256, found)
    },
    remove: async (sha256) => {
      facts.delete(sha256)
    },
    recheckSignature: async () => {},
    usedBytes: () => 0,
  }
}

const r1 = makeBootimage({ release: '44.20260601.3.0' })
const r2 = makeBootimage({ release: '44.20260707.3.1' })

let time: ManualTime
let store: StateStore
let ledger: Ledger
let fetcher: ReturnType<typeof createFakeFetcher>
let index: BlobIndex
let sync: BootimageSync
let driver: StreamDriver
let canonical: readonly Bootimage[] | undefined
let architectures: readonly Arch[]
let refreshed: string[]
let proved: Sha256[]
/** Files of which a reading shows that they are good. */
const doubtful = new Map<Sha256, BlobStat>()
let isWanted: () => boolean

async function open(): Promise<void> {
  ledger = await openLedger(store)
  const log = createRecordingLog()
  sync = createBootimageSync({
    ledger,
    fetcher,
    blobIndex: index,
    settingsOf: () => ({ mirrors: [], signatures: 'off' }),
    isWanted: () => isWanted(),
    prove: async (sha256) => {
      proved.push(sha256)
      const blob = doubtful.get(sha256)
      doubtful.delete(sha256)
      if (blob !== undefined) await index.add(blob)
    },
    ensureSpace: async () => {},
    onReady: (id) => driver.settle(id),
    onChanged: () => {},
    refreshStream: async (stream) => {
      refreshed.push(stream)
    },
    clock: time,
    timers: time,
    log,
  })
  driver = createStreamDriver({
    ledger,
    settingsOf: () => ({ architectures, policies: defaultChangePolicies, keep: 2 }),
    askCanonical: async () => (canonical === undefined ? undefined : { bootimages: canonical, problems: [] }),
    ensure: (id) => void sync.ensure(id),
    onChanged: () => {},
    clock: time,
    log,
  })
}

beforeEach(async () => {
  time = createManualTime()
  store = createMemoryStore()
  fetcher = createFakeFetcher()
  index = createFakeIndex()
  canonical = undefined
  architectures = ['x86_64']
  refreshed = []
  proved = []
  doubtful.clear()
  isWanted = () => true
  await open()
})

/** A document that offers these bootimages; `edition` makes another document of the same content. */
function documentOf(
  bootimages: readonly Bootimage[],
  options: { edition?: string; viaMirror?: boolean } = {},
): ReadDocument {
  const digest = sha256Of(`document ${bootimages.map(({ id }) => id).join()} ${options.edition ?? ''}`)
  return {
    document: {
      digest,
      stream: 'fcos-stable',
      format: 'stream',
      source: 'https://builds.example/stable.json',
      sizeBytes: 1,
      firstSeenAt: time.now(),
      lastSeenAt: time.now(),
    },
    resolution: { bootimages, problems: [] },
    viaMirror: options.viaMirror ?? false,
  }
}

async function read(
  bootimages: readonly Bootimage[],
  options?: Parameters<typeof documentOf>[1],
): Promise<void> {
  await driver.read(documentOf(bootimages, options))
  await settled()
}

const head = (arch: Arch = 'x86_64') => ledger.headOf('fcos-stable', arch)

describe('a stream moves forward', () => {
  it('the first bootimage is fetched whole and becomes current', async () => {
    await read([r1])
    expect(fetcher.requests.map(({ artifact }) => artifact.role)).toEqual(['kernel', 'initramfs', 'rootfs'])
    expect(head()).toMatchObject({ current: r1.id, target: r1.id, previous: [], lastChange: 'first' })
    expect(ledger.bootimages.get(r1.id)?.state).toBe('ready')
  })

  it('G3 the next one becomes current only when its last file is there', async () => {
    await read([r1])
    let release = () => {}
    fetcher.holdUntil(new Promise((resolve) => (release = resolve)))
    await read([r2])
    expect(head()).toMatchObject({ current: r1.id, target: r2.id })
    release()
    await settled()
    expect(head()).toMatchObject({ current: r2.id, previous: [r1.id], lastChange: 'advanced' })
  })

  it('G4 a set that cannot be fetched leaves current alone and is tried again, later and later', async () => {
    await read([r1])
    fetcher.failures.set(r2.rootfs?.sha256 as Sha256, new ServiceError('ARTIFACT_UNAVAILABLE', 'gone'))
    await read([r2])
    expect(head()).toMatchObject({ current: r1.id, target: r2.id })
    expect(ledger.bootimages.get(r2.id)).toMatchObject({
      state: 'failed',
      failure: { code: 'ARTIFACT_UNAVAILABLE', message: 'gone' },
    })
    const before = fetcher.requests.length
    await time.advance(14_000)
    expect(fetcher.requests.length).toBe(before)
    await time.advance(2_000)
    expect(fetcher.requests.length).toBe(before + 3)
    await time.advance(28_000)
    expect(fetcher.requests.length).toBe(before + 3)
    fetcher.failures.clear()
    await time.advance(2_000)
    expect(head()).toMatchObject({ current: r2.id })
  })

  it('a set that nobody wants any more is not tried again', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('ARTIFACT_UNAVAILABLE', 'gone'))
    await read([r1])
    isWanted = () => false
    const before = fetcher.requests.length
    await time.advance(60_000)
    expect(fetcher.requests.length).toBe(before)
  })

  it('a missing signature is a state of its own', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('SIGNATURE_MISSING', 'no .sig yet'))
    await read([r1])
    expect(ledger.bootimages.get(r1.id)?.state).toBe('pending-signature')
  })

  it('a wrong digest makes the stream be read again once, in case the document is older than the file', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('ARTIFACT_DIGEST_MISMATCH', 'other bytes'))
    await read([r1])
    expect(refreshed).toEqual(['fcos-stable'])
    await time.advance(20_000)
    expect(refreshed).toEqual(['fcos-stable'])
  })

  it('G1 G4 files in doubt are read before anything is fetched, and a set that is whole after all stays as it was', async () => {
    await read([r1])
    fetcher.requests.length = 0
    for (const { sha256 } of [r1.kernel, r1.initramfs]) {
      const facts = index.facts.get(sha256)
      if (facts === undefined) throw new Error('it was fetched just now')
      await index.remove(sha256)
      doubtful.set(sha256, { sha256, ...facts })
    }
    const before = ledger.bootimages.get(r1.id)
    await sync.ensure(r1.id)
    expect(proved).toEqual([r1.kernel.sha256, r1.initramfs.sha256])
    expect(fetcher.requests).toEqual([])
    expect(ledger.bootimages.get(r1.id)).toEqual(before)
  })

  it('G1 a fetch says as what a file was verified, so that any other is read first', async () => {
    await read([r1])
    await index.remove(r1.rootfs?.sha256 ?? r1.kernel.sha256)
    fetcher.requests.length = 0
    await sync.ensure(r1.id)
    expect(fetcher.requests.map(({ artifact, verifiedAs }) => [artifact.role, verifiedAs])).toEqual([
      ['kernel', someIdentity],
      ['initramfs', someIdentity],
      ['rootfs', undefined],
    ])
  })

  it('the unpacked kernel of aarch64 is recorded with what it was made from', async () => {
    architectures = ['aarch64']
    const arm = makeBootimage({ arch: 'aarch64' })
    await read([arm])
    const unpacked = sha256Of(`gunzip ${arm.kernel.sha256}`)
    expect(ledger.bootimages.get(arm.id)?.kernelUncompressed).toBe(unpacked)
    expect(await store.listDerived()).toMatchObject([
      { sha256: unpacked, from: arm.kernel.sha256, how: 'gunzip' },
    ])
  })

  it('the same set at another place is fetched from there', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('ARTIFACT_UNAVAILABLE', 'gone'))
    await read([r1])
    fetcher.failures.clear()
    const location = 'https://elsewhere.example/kernel'
    await read([{ ...r1, kernel: { ...r1.kernel, location } }], { edition: 'moved' })
    await time.advance(20_000)
    expect(head()).toMatchObject({ current: r1.id })
    expect(fetcher.requests.filter(({ artifact }) => artifact.location === location)).toHaveLength(1)
    expect((await store.listBootimages())[0]?.bootimage.kernel.location).toBe(location)
  })

  it('an architecture that is not followed is only noted', async () => {
    const arm = makeBootimage({ arch: 'aarch64' })
    await read([r1, arm])
    expect(ledger.bootimages.get(arm.id)?.state).toBe('known')
    expect(fetcher.requests.every(({ artifact }) => artifact.name.includes('x86_64'))).toBe(true)
  })
})

describe('a stream goes back', () => {
  beforeEach(async () => {
    await read([r1])
    await read([r2])
  })

  it('G9 it is followed when a second refresh says the same', async () => {
    await read([r1])
    expect(head()).toMatchObject({
      current: r2.id,
      pending: { change: 'rolled-back', seen: 1, policy: 'confirm' },
    })
    await driver.unchanged('fcos-stable')
    await settled()
    expect(head()).toMatchObject({ current: r1.id, previous: [r2.id], lastChange: 'rolled-back' })
    expect(head().pending).toBeUndefined()
  })

  it('G9 a mirror alone never takes it back', async () => {
    for (let refresh = 0; refresh < 3; refresh += 1) await read([r1], { viaMirror: true })
    expect(head()).toMatchObject({ current: r2.id })
    canonical = [r1]
    await read([r1], { viaMirror: true })
    expect(head()).toMatchObject({ current: r1.id })
  })

  it('G9 one refresh that says otherwise starts the count anew', async () => {
    await read([r1])
    await read([r2], { edition: 'again' })
    await read([r1])
    expect(head()).toMatchObject({ current: r2.id, pending: { seen: 1 } })
  })

  it('the count goes on after a restart', async () => {
    await read([r1])
    await open()
    await read([r1])
    expect(head()).toMatchObject({ current: r1.id })
  })
})

describe('a release that changed', () => {
  it('G8 other digests under the same release are held, reported and not fetched', async () => {
    await read([r1])
    const again = makeBootimage({ release: r1.release, edition: 'second' })
    const before = fetcher.requests.length
    for (let refresh = 0; refresh < 3; refresh += 1) await read([again])
    expect(head()).toMatchObject({
      current: r1.id,
      lastChange: 'republished',
      pending: { policy: 'hold', seen: 3 },
    })
    expect(ledger.bootimages.get(again.id)?.state).toBe('held')
    expect(fetcher.requests.length).toBe(before)
  })

  it('an architecture that left the document keeps what it had', async () => {
    await read([r1])
    await read([], { edition: 'withdrawn' })
    expect(head()).toMatchObject({ current: r1.id, lastChange: 'withdrawn' })
  })
})

describe('after a crash', () => {
  it('G7 a set that was ready but not yet current becomes current', async () => {
    await read([r1])
    const { document } = documentOf([r2])
    await store.recordRefresh({
      document,
      bootimages: [{ bootimage: r2, document: document.digest, state: 'ready', firstSeenAt: 1, readyAt: 2 }],
      heads: [{ ...head(), target: r2.id }],
    })
    await open()
    await driver.settleAll()
    expect(head()).toMatchObject({ current: r2.id, previous: [r1.id] })
  })

  it('G4 a failing source keeps its age and its error until it works again', async () => {
    await read([r1])
    const readAt = time.now()
    await time.advance(60_000)
    driver.failed('fcos-stable', { code: 'METADATA_UNAVAILABLE', message: '503' })
    await time.advance(60_000)
    driver.failed('fcos-stable', { code: 'METADATA_UNAVAILABLE', message: '503 again' })
    expect(driver.readings().get('fcos-stable')?.health).toMatchObject({
      lastSuccessAt: readAt,
      failingSince: readAt + 60_000,
      lastAttemptAt: readAt + 120_000,
      error: { message: '503 again' },
    })
    await driver.unchanged('fcos-stable')
    expect(driver.readings().get('fcos-stable')?.health.error).toBeUndefined()
  })
})

describe('single flight', () => {
  it('G5 twenty requests for one absent bootimage start one fetch', async () => {
    await store.addBootimage({ bootimage: r1, document: sha256Of('d'), state: 'known', firstSeenAt: 1 })
    await open()
    await Promise.all(Array.from({ length: 20 }, () => sync.ensure(r1.id)))
    expect(fetcher.requests.length).toBe(3)
    expect(ledger.bootimages.get(r1.id)?.state).toBe('ready')
  })

  it('a thousand machines that wait for a set that failed bring its next try forward to half a minute', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('ARTIFACT_UNAVAILABLE', 'HTTP 404'))
    await read([r1])
    for (let failure = 0; failure < 5; failure += 1) await time.advance(15_000 * 2 ** failure)
    const tries = fetcher.requests.length
    const askThousandTimes = async () => {
      for (let machine = 0; machine < 1000; machine += 1) sync.want(r1.id)
      await settled()
    }
    await askThousandTimes()
    await time.advance(29_000)
    await askThousandTimes()
    expect(fetcher.requests.length).toBe(tries)
    await time.advance(1_000)
    await askThousandTimes()
    expect(fetcher.requests.length).toBe(tries + 1)
  })

  it('a ready set whose file vanished is fetched again', async () => {
    await read([r1])
    index.remove(r1.initramfs.sha256)
    const before = fetcher.requests.length
    await sync.ensure(r1.id)
    expect(fetcher.requests.length).toBe(before + 3)
  })

  it('stopping leaves no timer behind', async () => {
    fetcher.failures.set(r1.kernel.sha256, new ServiceError('ARTIFACT_UNAVAILABLE', 'gone'))
    await read([r1])
    expect(time.pending).toBe(1)
    await sync.stop()
    expect(time.pending).toBe(0)
  })
})
