import { createHash, randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBlobStore } from '../../src/artifacts/create-blob-store.ts'
import { createFetchEngine, type EngineResult } from '../../src/artifacts/fetch-engine.ts'
import type { FetchRequest } from '../../src/artifacts/fetcher.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createFixedUpstream, type FixedAnswers, serve } from '../fakes/fixed-upstream.ts'
import { makeSigner } from '../fakes/signing.ts'
import {
  createUnsyncedFs,
  type FsOperation,
  fsError,
  type Survival,
  type UnsyncedFs,
  type UnsyncedFsOptions,
} from '../fakes/unsynced-fs.ts'

const layout = layoutOf('/data')
const now = Date.parse('2026-11-29T12:00:00Z')
const clock = { now: () => now }
const url = 'http://upstream.example/kernel'

const plain = randomBytes(8_500)
const kernel = gzipSync(plain, { level: 0 })
const request: FetchRequest = {
  artifact: {
    role: 'kernel',
    name: 'kernel',
    sha256: digestOf(kernel),
    location: url,
    signature: `${url}.sig`,
  },
  mirrors: [],
  signatures: 'required',
  gunzip: true,
}
let answers: FixedAnswers
let publicKey: string

beforeAll(async () => {
  const signer = await makeSigner({ kind: 'rsa' })
  publicKey = signer.publicKey
  answers = { [url]: kernel, [`${url}.sig`]: await signer.sign(kernel) }
})

function digestOf(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}

/** A start of the service that wants one kernel, with small blocks so that there are many steps to stop at. */
async function startAndFetch(fs: UnsyncedFs, served: FixedAnswers = answers): Promise<EngineResult> {
  await openBlobStore({ fs, layout, clock })
  const engine = createFetchEngine({
    dataDirectory: layout.dataDirectory,
    upstream: { allowedOrigins: [] },
    trustedKeys: [publicKey],
    fs,
    client: createFixedUpstream(served),
    now: clock.now,
    pause: async () => {},
    blockBytes: 128,
  })
  return engine.fetch(request, { signal: new AbortController().signal, onEvent() {} })
}

function newFs(options: UnsyncedFsOptions = {}): UnsyncedFs {
  return createUnsyncedFs({ now: clock.now, ...options })
}

function stopAt(index: number): (operation: FsOperation) => void {
  return (operation) => {
    if (operation.index >= index) throw fsError('EIO', 'the power is gone')
  }
}

/** Absent or complete, whatever the directory looks like. */
async function expectOnlyCompleteBlobs(fs: UnsyncedFs): Promise<Sha256[]> {
  const store = await openBlobStore({ fs, layout, clock })
  const found: Sha256[] = []
  for await (const { sha256, path } of store.list()) {
    expect(digestOf(fs.files().get(path) ?? Buffer.alloc(0))).toBe(sha256)
    found.push(sha256)
  }
  return found
}

function expectWhole(fs: UnsyncedFs, { blob, uncompressed, signature }: EngineResult): void {
  expect(signature?.sha256).toBe(digestOf(fs.files().get(layout.signature(blob.sha256)) ?? Buffer.alloc(0)))
  const names = [...fs.files().keys()].sort()
  expect(names).toEqual([blob.path, uncompressed?.path, layout.signature(blob.sha256)].sort())
  expect(
    fs
      .files()
      .get(uncompressed?.path ?? '')
      ?.equals(plain),
  ).toBe(true)
}

/** The same every run, another for each seed. */
function chooser(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

async function countOperations(): Promise<number> {
  const fs = newFs()
  expectWhole(fs, await startAndFetch(fs))
  return fs.operations
}

/** With the stride of steps to stop at: the two adversaries that find most stop at every one. */
const survivals: readonly [string, (step: number) => Survival, number][] = [
  ['nothing that was not synced survives', () => 'nothing', 1],
  ['everything survives (kill -9)', () => 'everything', 3],
  ['some of it survives, some torn', (step) => ({ choose: chooser(step) }), 1],
  ['some of it survives, otherwise', (step) => ({ choose: chooser(step + 1_000_003) }), 3],
]

describe('a crash after any step of a fetch', () => {
  it.each(survivals)(
    'G7 G1 leaves each blob absent or complete, and the next start gets it: %s',
    async (_name, survival, stride) => {
      const steps = await countOperations()
      expect(steps).toBeGreaterThan(150)
      for (let step = 0; step < steps; step += stride) {
        const fs = newFs({ before: stopAt(step) })
        await expect(startAndFetch(fs)).rejects.toThrow()
        const disk = fs.afterCrash(survival(step))
        await expectOnlyCompleteBlobs(disk)
        expectWhole(disk, await startAndFetch(disk))
      }
    },
  )

  it('G7 an acknowledged fetch survives the loss of everything unsynced', async () => {
    const fs = newFs()
    const { blob, uncompressed } = await startAndFetch(fs)
    const disk = fs.afterCrash('nothing')
    const found = await expectOnlyCompleteBlobs(disk)
    expect(found.sort()).toEqual([blob.sha256, uncompressed?.sha256].sort())
    expect(disk.files().has(layout.signature(blob.sha256))).toBe(true)
  })

  it('G7 a second crash while the first is being mended changes nothing', async () => {
    const steps = await countOperations()
    for (let step = 5; step < steps; step += 7) {
      const fs = newFs({ before: stopAt(step) })
      await expect(startAndFetch(fs)).rejects.toThrow()
      const second = fs.afterCrash({ choose: chooser(step) }, { before: stopAt(step + 3) })
      await startAndFetch(second).catch(() => {})
      const disk = second.afterCrash({ choose: chooser(step * 7) })
      await expectOnlyCompleteBlobs(disk)
      expectWhole(disk, await startAndFetch(disk))
    }
  })
})

describe('a crash while a blob is taken out of service', () => {
  it.each(survivals)('G7 leaves it complete in the store or out of it: %s', async (_name, survival) => {
    for (let step = 0; ; step += 1) {
      const fs = newFs()
      const { blob } = await startAndFetch(fs)
      const failing = fs.afterCrash('nothing', { before: stopAt(step) })
      const store = openBlobStore({ fs: failing, layout, clock })
      const outcome = await store
        .then((opened) => opened.quarantine(blob.sha256, 'it smells'))
        .then(
          () => 'done' as const,
          () => 'stopped' as const,
        )
      const disk = failing.afterCrash(survival(step))
      const found = await expectOnlyCompleteBlobs(disk)
      if (outcome === 'stopped') continue
      expect(found).not.toContain(blob.sha256)
      expect(step).toBeGreaterThan(8)
      return
    }
  })
})

describe('a full disk', () => {
  const writing: ReadonlySet<FsOperation['kind']> = new Set([
    'write',
    'create',
    'makeDirectory',
    'sync',
    'rename',
  ])

  it('G7 at any write is an error with a code, leaves nothing half done, and is forgotten when there is room', async () => {
    const steps = await countOperations()
    for (let step = 0; step < steps; step += 2) {
      let isFull = true
      let wasHit = false
      const fs = newFs({
        before({ index, kind, path }) {
          if (!isFull || index < step || !writing.has(kind)) return
          wasHit = true
          throw fsError('ENOSPC', path)
        },
      })
      const outcome = await startAndFetch(fs).then(
        () => 'fetched',
        (error: { code?: string }) => error.code,
      )
      expect(outcome).toBe(wasHit ? 'SPACE_INSUFFICIENT' : 'fetched')
      isFull = false
      await expectOnlyCompleteBlobs(fs)
      expectWhole(fs, await startAndFetch(fs))
    }
  })

  it('G7 a single failed write loses only that fetch, and takes no room afterwards', async () => {
    const kinds: FsOperation['kind'][] = []
    await startAndFetch(newFs({ before: ({ kind }) => void kinds.push(kind) }))
    const writes = kinds.flatMap((kind, index) => (kind === 'write' ? [index] : []))
    expect(writes.length).toBeGreaterThan(100)
    for (const step of writes) {
      const fs = newFs({
        before({ index, kind, path }) {
          if (index === step && kind === 'write') throw fsError('ENOSPC', path)
        },
      })
      await startAndFetch(fs).catch(() => {})
      expect([...fs.files().keys()].filter((path) => path.startsWith(layout.incoming))).toEqual([])
      expectWhole(fs, await startAndFetch(fs))
    }
  })

  it('is noticed before anything is fetched, with bytes needed and free', async () => {
    const fs = newFs({ freeBytes: 1000 })
    await expect(startAndFetch(fs)).rejects.toMatchObject({
      code: 'SPACE_INSUFFICIENT',
      details: { neededBytes: kernel.length, freeBytes: 1000 },
    })
    expect([...fs.files().keys()]).toEqual([])
  })
})

describe('a transfer that was cut by a crash', () => {
  it('is continued after the restart when the bytes survived', async () => {
    const steps = await countOperations()
    let continued = 0
    for (let step = 0; step < steps; step += 5) {
      const fs = newFs({ before: stopAt(step) })
      await expect(startAndFetch(fs)).rejects.toThrow()
      const disk = fs.afterCrash('everything')
      const ranges: string[] = []
      await startAndFetch(disk, {
        ...answers,
        [url]: (asked) => {
          if (asked.headers?.range) ranges.push(asked.headers.range)
          return serve(asked, kernel)
        },
      })
      continued += ranges.length
    }
    expect(continued).toBeGreaterThan(10)
  })
})
