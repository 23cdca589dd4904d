import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFetcherOver, createInProcessFetcher } from '../../src/artifacts/create-fetcher.ts'
import type { EngineResult, FetchEngine, FetchHooks } from '../../src/artifacts/fetch-engine.ts'
import type { FetchEvent, FetchRequest, SignaturePolicy } from '../../src/artifacts/fetcher.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { someIdentity } from '../fakes/bootimages.ts'
import { startLoopbackServer } from '../fakes/loopback-server.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

function digestOf(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}

function requestOf(
  name: string,
  signatures: SignaturePolicy = 'off',
  more: Partial<FetchRequest> = {},
): FetchRequest {
  const sha256 = digestOf(Buffer.from(name))
  return {
    artifact: { role: 'rootfs', name, sha256, location: `http://up.example/${name}` },
    mirrors: [],
    signatures,
    ...more,
  }
}

/** An engine whose work the test ends by hand. */
function createHandEngine() {
  const works: {
    request: FetchRequest
    hooks: FetchHooks
    finish: () => void
    fail: (error: Error) => void
  }[] = []
  let isClosed = false
  const engine: FetchEngine = {
    fetch(request, hooks) {
      return new Promise((resolve, reject) => {
        const { sha256 } = request.artifact
        const blob = { sha256, sizeBytes: 1, modifiedAt: 0, path: `/${sha256}`, identity: someIdentity }
        const result: EngineResult = { blob, outcome: 'fetched' }
        hooks.signal.addEventListener('abort', () => reject(hooks.signal.reason))
        works.push({ request, hooks, finish: () => resolve(result), fail: reject })
      })
    },
    hash: (_sha256, _pace, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    async close() {
      isClosed = true
    },
  }
  return { engine, works, isClosed: () => isClosed }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('144: single flight', () => {
  it('callers that want the same share one piece of work and its result', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const results = Array.from({ length: 20 }, () => fetcher.fetch(requestOf('a')))
    await turn()
    expect(works).toHaveLength(1)
    works[0]?.finish()
    const blobs = await Promise.all(results)
    expect(new Set(blobs.map(({ blob }) => blob.path)).size).toBe(1)
  })

  it('they share its error too, and a failure is not remembered', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const results = [fetcher.fetch(requestOf('a')), fetcher.fetch(requestOf('a'))]
    await turn()
    works[0]?.fail(new Error('broken'))
    for (const result of results) await expect(result).rejects.toThrow('broken')
    const again = fetcher.fetch(requestOf('a'))
    await turn()
    works[1]?.finish()
    await expect(again).resolves.toBeDefined()
  })

  it('a caller that gives up does not stop the others', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const abort = new AbortController()
    const impatient = fetcher.fetch(requestOf('a'), abort.signal)
    const patient = fetcher.fetch(requestOf('a'))
    await turn()
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(impatient).rejects.toBe(reason)
    expect(works[0]?.hooks.signal.aborted).toBe(false)
    works[0]?.finish()
    await expect(patient).resolves.toBeDefined()
  })

  it('the work stops when all callers gave up, and a new caller starts it anew', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const aborts = [new AbortController(), new AbortController()]
    const given = aborts.map(({ signal }) => fetcher.fetch(requestOf('a'), signal).catch(() => 'gave up'))
    await turn()
    for (const abort of aborts) abort.abort()
    expect(await Promise.all(given)).toEqual(['gave up', 'gave up'])
    expect(works[0]?.hooks.signal.aborted).toBe(true)
    const late = fetcher.fetch(requestOf('a'))
    await turn()
    expect(works).toHaveLength(2)
    works[1]?.finish()
    await expect(late).resolves.toBeDefined()
  })

  it('callers with another signature policy or other keys wait for the first, then do their own', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const plain = fetcher.fetch(requestOf('a', 'off'))
    const signed = fetcher.fetch(requestOf('a', 'required'))
    const unpacked = fetcher.fetch(requestOf('a', 'off', { gunzip: true }))
    const otherKeys = fetcher.fetch(requestOf('a', 'required', { trustedKeys: ['key'] }))
    const sameKeys = fetcher.fetch(requestOf('a', 'required', { trustedKeys: ['key'] }))
    await turn()
    expect(works).toHaveLength(1)
    works[0]?.finish()
    await plain
    await turn()
    expect(works).toHaveLength(2)
    works[1]?.finish()
    await turn()
    await turn()
    works[2]?.finish()
    await turn()
    await turn()
    works[3]?.finish()
    await Promise.all([signed, unpacked, otherKeys, sameKeys])
    expect(works.map(({ request }) => [request.signatures, request.gunzip, request.trustedKeys])).toEqual([
      ['off', undefined, undefined],
      ['required', undefined, undefined],
      ['off', true, undefined],
      ['required', undefined, ['key']],
    ])
  })

  it('an aborted caller never starts', async () => {
    const { engine, works } = createHandEngine()
    const reason = new Error('enough')
    await expect(createFetcherOver({ engine }).fetch(requestOf('a'), AbortSignal.abort(reason))).rejects.toBe(
      reason,
    )
    expect(works).toEqual([])
  })
})

describe('several artifacts', () => {
  it('are on their way two at a time, in the order asked', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine })
    const results = ['a', 'b', 'c', 'd'].map((name) => fetcher.fetch(requestOf(name)))
    await turn()
    expect(works.map(({ request }) => request.artifact.name)).toEqual(['a', 'b'])
    works[1]?.finish()
    await turn()
    expect(works.map(({ request }) => request.artifact.name)).toEqual(['a', 'b', 'c'])
    for (const index of [0, 2]) works[index]?.finish()
    await turn()
    works[3]?.finish()
    await Promise.all(results)
  })

  it('one that waits its turn can be given up, and takes nobody’s place', async () => {
    const { engine, works } = createHandEngine()
    const fetcher = createFetcherOver({ engine, maxConcurrent: 1 })
    const abort = new AbortController()
    const first = fetcher.fetch(requestOf('a'))
    const waiting = fetcher.fetch(requestOf('b'), abort.signal)
    const third = fetcher.fetch(requestOf('c'))
    await turn()
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    works[0]?.finish()
    await first
    await turn()
    works[1]?.finish()
    await third
    expect(works.map(({ request }) => request.artifact.name)).toEqual(['a', 'c'])
  })
})

describe('events', () => {
  it('end with exactly one for each piece of work: fetched, failed with its code, aborted', async () => {
    const { engine, works } = createHandEngine()
    const events: FetchEvent[] = []
    const fetcher = createFetcherOver({ engine, maxConcurrent: 3, onEvent: (event) => events.push(event) })
    const abort = new AbortController()
    const results = [
      fetcher.fetch(requestOf('a')),
      fetcher.fetch(requestOf('a')),
      fetcher.fetch(requestOf('b')),
      fetcher.fetch(requestOf('c'), abort.signal),
    ].map((result) => result.catch(() => {}))
    await turn()
    works[0]?.finish()
    works[1]?.fail(new Error('odd'))
    abort.abort()
    await Promise.all(results)
    await turn()
    expect(events.map((event) => event.type === 'finished' && [event.outcome, event.code])).toEqual([
      ['fetched', undefined],
      ['failed', 'INTERNAL'],
      ['aborted', undefined],
    ])
  })
})

describe('stop', () => {
  it('ends all work, waits for it, closes the engine, and can be repeated', async () => {
    const { engine, isClosed } = createHandEngine()
    const fetcher = createFetcherOver({ engine, maxConcurrent: 1 })
    const results = [
      fetcher.fetch(requestOf('a')),
      fetcher.fetch(requestOf('b')),
      fetcher.hash(digestOf(Buffer.alloc(1))),
    ]
    const settled = Promise.allSettled(results)
    await turn()
    await fetcher.stop()
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(isClosed()).toBe(true)
    await fetcher.stop()
    await expect(fetcher.fetch(requestOf('c'))).rejects.toThrow('the fetcher has been stopped')
  })
})

describe('over the wire', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  it('144: 20 parallel requests are one GET', async () => {
    const bytes = randomBytes(200_000)
    const upstream = await startLoopbackServer((_request, response) => response.end(bytes))
    const fetcher = createInProcessFetcher({
      dataDirectory: directory.path,
      upstream: { allowedOrigins: [upstream.origin] },
      trustedKeys: [],
      reserveBytes: 0,
    })
    const location = `${upstream.origin}/f`
    const artifact = { role: 'rootfs', name: 'f', sha256: digestOf(bytes), location } as const
    const requests = Array.from({ length: 20 }, (_, index) => {
      const signatures: SignaturePolicy = index % 2 === 0 ? 'off' : 'if-present'
      return fetcher.fetch({ artifact, mirrors: [], signatures })
    })
    const results = await Promise.all(requests)
    expect(new Set(results.map(({ blob }) => blob.sha256))).toEqual(new Set([digestOf(bytes)]))
    expect(upstream.requests).toEqual(['GET /f'])
    await fetcher.stop()
    await upstream.close()
  })
})
