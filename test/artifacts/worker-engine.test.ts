import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareLayout } from '../../src/artifacts/create-blob-store.ts'
import { createFetcher } from '../../src/artifacts/create-fetcher.ts'
import type { FetchEvent } from '../../src/artifacts/fetcher.ts'
import { nodeFileSystem } from '../../src/artifacts/file-system.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import { createWorkerEngine } from '../../src/artifacts/worker-engine.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { type LoopbackServer, startLoopbackServer } from '../fakes/loopback-server.ts'
import { makeSigner } from '../fakes/signing.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

const bytes = randomBytes(5_000_000)
const sha256 = createHash('sha256').update(bytes).digest('hex') as Sha256

let directory: TemporaryDirectory
let upstream: LoopbackServer
let isEndless = false
beforeEach(async () => {
  isEndless = false
  directory = await makeTemporaryDirectory()
  upstream = await startLoopbackServer((request, response) => {
    if (request.url === '/f') isEndless ? response.write(bytes.subarray(0, 1000)) : response.end(bytes)
    else response.writeHead(404).end()
  })
})
afterEach(async () => {
  await upstream.close()
  await directory.remove()
})

function options(trustedKeys: readonly string[] = []) {
  return {
    dataDirectory: directory.path,
    upstream: { allowedOrigins: [upstream.origin] },
    trustedKeys,
    reserveBytes: 0,
  }
}

function requestFor(path: string, signatures: 'off' | 'required' = 'off') {
  const location = `${upstream.origin}${path}`
  const artifact = { role: 'rootfs', name: 'f', sha256, location, signature: `${location}.sig` } as const
  return { artifact, mirrors: [], signatures } as const
}

const hooks = () => ({ signal: new AbortController().signal, onEvent() {} })

describe('a fetcher with a thread of its own', () => {
  it('stores what it fetched, with events, and leaves nothing running', async () => {
    const events: FetchEvent[] = []
    const fetcher = createFetcher({ ...options(), onEvent: (event) => events.push(event) })
    const { blob } = await fetcher.fetch(requestFor('/f'))
    expect((await readFile(blob.path)).equals(bytes)).toBe(true)
    expect(events[0]).toEqual({ type: 'started', sha256, url: `${upstream.origin}/f`, resumedAtBytes: 0 })
    expect(events.at(-1)).toMatchObject({ type: 'finished', outcome: 'fetched' })
    expect(await fetcher.hash(sha256)).toMatchObject({ digest: sha256, blob: { sizeBytes: 5_000_000 } })
    await fetcher.stop()
    await fetcher.stop()
  })

  it('reports errors with code, message and facts as in the same thread', async () => {
    const fetcher = createFetcher(options())
    const failure = fetcher.fetch(requestFor('/missing'))
    await expect(failure).rejects.toBeInstanceOf(ServiceError)
    await expect(failure).rejects.toMatchObject({
      code: 'ARTIFACT_UNAVAILABLE',
      message: `fetching rootfs f from ${upstream.origin}/missing: HTTP 404`,
      details: { sha256, attempts: [{ url: `${upstream.origin}/missing` }] },
    })
    await fetcher.stop()
  })

  it('takes trusted keys along', async () => {
    const signer = await makeSigner()
    const fetcher = createFetcher(options([signer.publicKey]))
    await expect(fetcher.fetch(requestFor('/f', 'required'))).rejects.toMatchObject({
      code: 'SIGNATURE_MISSING',
    })
    await fetcher.stop()
  })

  it('stops a transfer when asked, with the caller’s reason', async () => {
    isEndless = true
    const abort = new AbortController()
    const reason = new Error('enough')
    const fetcher = createFetcher({
      ...options(),
      onEvent: (event) => {
        if (event.type === 'started') abort.abort(reason)
      },
    })
    await expect(fetcher.fetch(requestFor('/f'), abort.signal)).rejects.toBe(reason)
    await fetcher.stop()
  })

  it('ends with a transfer on its way', async () => {
    isEndless = true
    let stopped: Promise<void> | undefined
    const fetcher = createFetcher({
      ...options(),
      onEvent: (event) => {
        if (event.type === 'started') stopped = fetcher.stop()
      },
    })
    await expect(fetcher.fetch(requestFor('/f'))).rejects.toThrow('the fetcher has been stopped')
    await stopped
  })
})

describe('a thread that dies', () => {
  async function entry(source: string): Promise<URL> {
    const path = join(directory.path, 'entry.mjs')
    await writeFile(path, source)
    return pathToFileURL(path)
  }

  it('fails what it was doing, and the next piece of work gets a new one', async () => {
    const crashing = await entry(`
      import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ id, type, sha256 }) => {
        if (type === 'hash') return parentPort.postMessage({ type: 'hashed', id, found: { digest: sha256 } })
        if (type === 'close') return parentPort.close()
        setImmediate(() => { throw new Error('out of luck') })
      })
    `)
    const engine = createWorkerEngine(options(), crashing)
    const works = [engine.fetch(requestFor('/f'), hooks()), engine.fetch(requestFor('/g'), hooks())]
    for (const work of works) {
      await expect(work).rejects.toMatchObject({
        code: 'INTERNAL',
        message: 'the fetching thread stopped: out of luck',
      })
    }
    expect(await engine.hash(sha256, {}, new AbortController().signal)).toEqual({
      digest: sha256,
    })
    await engine.close()
  })

  it('that exits without a word is noticed', async () => {
    const engine = createWorkerEngine(options(), await entry('process.exit(3)'))
    await expect(engine.fetch(requestFor('/f'), hooks())).rejects.toThrow('it ended with code 3')
    await engine.close()
  })

  it('whose file is missing is an error, not a wait', async () => {
    const engine = createWorkerEngine(options(), pathToFileURL(join(directory.path, 'missing.mjs')))
    await expect(engine.fetch(requestFor('/f'), hooks())).rejects.toMatchObject({ code: 'INTERNAL' })
    await engine.close()
  })

  it('does nothing after it was closed', async () => {
    const engine = createWorkerEngine(options())
    await engine.close()
    await expect(engine.fetch(requestFor('/f'), hooks())).rejects.toMatchObject({ code: 'INTERNAL' })
  })
})

describe('hashing at a pace', () => {
  it('reads the same digest in a thread, and tells damage', async () => {
    const layout = layoutOf(directory.path)
    await prepareLayout(nodeFileSystem, layout)
    const fetcher = createFetcher(options())
    await fetcher.fetch(requestFor('/f'))
    expect(await fetcher.hash(sha256, { bytesPerSecond: 1e9 })).toMatchObject({ digest: sha256 })
    expect(await fetcher.hash('ab'.repeat(32) as Sha256)).toBeUndefined()
    await fetcher.stop()
  })
})
