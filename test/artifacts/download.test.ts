import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createInProcessFetcher } from '../../src/artifacts/create-fetcher.ts'
import type { FetchEvent, FetchRequest } from '../../src/artifacts/fetcher.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { type LoopbackServer, startLoopbackServer } from '../fakes/loopback-server.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

/** What is still in buffers when a connection breaks is lost, so that a cut must come well after the start. */
const sizeBytes = 3_000_000
const cutAt = 2_000_000
const bytes = randomBytes(sizeBytes)
const sha256 = digestOf(bytes)
const other = randomBytes(sizeBytes)
const page = '<!DOCTYPE html><html><body>Please log in</body></html>'

function digestOf(data: Uint8Array): Sha256 {
  return createHash('sha256').update(data).digest('hex') as Sha256
}

let directory: TemporaryDirectory
const closers: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  directory = await makeTemporaryDirectory()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await directory.remove()
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function server(...answers: Answer[]): Promise<LoopbackServer> {
  let count = 0
  const started = await startLoopbackServer((request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)]
    count += 1
    answer?.(request, response)
  })
  closers.push(() => started.close())
  return started
}

interface Settings {
  readonly allowed: readonly LoopbackServer[]
  readonly headers?: FetchRequest['headers']
  readonly mirrors?: readonly string[]
  readonly signal?: AbortSignal
}

/** One fetch cycle by a service that has just been started on the directory. */
async function fetchFrom(
  location: string,
  { allowed, mirrors = [], headers, signal }: Settings,
  more: Partial<Artifact> = {},
) {
  const events: FetchEvent[] = []
  const pauses: number[] = []
  const fetcher = createInProcessFetcher({
    dataDirectory: directory.path,
    upstream: { allowedOrigins: allowed.map(({ origin }) => origin), stallTimeoutMs: 200 },
    trustedKeys: [],
    reserveBytes: 0,
    blockBytes: 64 * 1024,
    onEvent: (event) => events.push(event),
    pause: async (delayMs) => void pauses.push(delayMs),
  })
  closers.push(() => fetcher.stop())
  const artifact: Artifact = { role: 'rootfs', name: 'rootfs.img', sha256, location, ...more }
  const request = { artifact, mirrors, signatures: 'off', ...(headers ? { headers } : {}) } as const
  const outcome = await fetcher.fetch(request, signal).then(
    ({ blob }) => ({ blob }),
    (error: Error & { code?: string; details?: Record<string, unknown> }) => ({ error }),
  )
  return { events, pauses, outcome }
}

async function incoming(): Promise<string[]> {
  return readdir(layoutOf(directory.path).incoming)
}

async function expectStored(outcome: { blob: { path: string } } | { error: Error }): Promise<void> {
  if ('error' in outcome) throw outcome.error
  expect((await readFile(outcome.blob.path)).equals(bytes)).toBe(true)
  expect(await incoming()).toEqual([])
}

function errorOf(outcome: object): { code?: string; message: string; details: Record<string, unknown> } {
  expect(outcome).toHaveProperty('error')
  return (outcome as { error: { code: string; message: string; details: Record<string, unknown> } }).error
}

const whole: Answer = (_request, response) => response.end(bytes)

/** A server with files as they should be: strong tag, ranges, `If-Range`. */
function proper(body: Uint8Array, etag = '"v1"', cutAfter?: number): Answer {
  return (request, response) => {
    const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]
    const isFresh = (request.headers['if-range'] ?? etag) === etag
    const start = from !== undefined && isFresh ? Number(from) : 0
    const part = body.subarray(start)
    const range = start > 0 ? { 'Content-Range': `bytes ${start}-${body.length - 1}/${body.length}` } : {}
    response.writeHead(start > 0 ? 206 : 200, { ETag: etag, 'Content-Length': part.length, ...range })
    if (cutAfter === undefined) response.end(part)
    else response.write(part.subarray(0, cutAfter), () => setImmediate(() => response.destroy()))
  }
}

describe('a good answer', () => {
  it('is stored under its digest, with events from start to finish', async () => {
    const upstream = await server(whole)
    const { outcome, events } = await fetchFrom(`${upstream.origin}/rootfs.img`, { allowed: [upstream] })
    await expectStored(outcome)
    expect(events.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual([
      'started',
      'verifying',
      'finished',
    ])
    expect(events.at(-1)).toEqual({ type: 'finished', sha256, outcome: 'fetched', sizeBytes: bytes.length })
  })

  it('133: is not fetched a second time', async () => {
    const upstream = await server(whole)
    const location = `${upstream.origin}/rootfs.img`
    await fetchFrom(location, { allowed: [upstream] })
    const { outcome, events } = await fetchFrom(location, { allowed: [upstream] })
    await expectStored(outcome)
    expect(upstream.requests).toEqual(['GET /rootfs.img'])
    expect(events).toEqual([{ type: 'finished', sha256, outcome: 'present', sizeBytes: bytes.length }])
  })

  it('need not tell its length', async () => {
    const upstream = await server((_request, response) => {
      response.write(bytes.subarray(0, 1000))
      response.end(bytes.subarray(1000))
    })
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    await expectStored(outcome)
  })

  it('from a file is copied, links in the admin’s directory followed', async () => {
    const source = await makeTemporaryDirectory()
    closers.push(() => source.remove())
    await writeFile(join(source.path, 'original'), bytes)
    await symlink(join(source.path, 'original'), join(source.path, 'rootfs.img'))
    const { outcome } = await fetchFrom(pathToFileURL(join(source.path, 'rootfs.img')).href, { allowed: [] })
    await expectStored(outcome)
  })

  it('sends the admin’s headers to the document’s server alone', async () => {
    const seen: (string | undefined)[] = []
    const note: Answer = (request, response) => {
      seen.push(request.headers['x-token'] as string | undefined)
      response.writeHead(404).end()
    }
    const mirror = await server(note)
    const upstream = await server(note)
    await fetchFrom(`${upstream.origin}/f`, {
      allowed: [mirror, upstream],
      mirrors: [`${mirror.origin}/{name}`],
      headers: { 'X-Token': 't' },
    })
    expect(seen).toEqual([undefined, 't'])
  })
})

describe('G1 a bad answer is never stored', () => {
  it('130: 200 with an HTML page, and the error says so', async () => {
    const upstream = await server((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page)
    })
    const { outcome } = await fetchFrom(`${upstream.origin}/rootfs.img?token=secret`, { allowed: [upstream] })
    const { code, message } = errorOf(outcome)
    expect(code).toBe('ARTIFACT_DIGEST_MISMATCH')
    expect(message).toBe(
      `fetching rootfs rootfs.img from ${upstream.origin}/rootfs.img: expected SHA-256 ${sha256}, ` +
        `found ${digestOf(Buffer.from(page))} over ${page.length} bytes (the answer is an HTML page)`,
    )
    expect(await incoming()).toEqual([])
  })

  it('HTML by its label alone is fine when the digest is right', async () => {
    const upstream = await server((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(bytes)
    })
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    await expectStored(outcome)
  })

  it('no bytes, with and without a length', async () => {
    for (const headers of [{ 'Content-Length': '0' }, { 'Transfer-Encoding': 'chunked' }]) {
      const upstream = await server((_request, response) => response.writeHead(200, headers).end())
      const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
      expect(errorOf(outcome).code).toBe('ARTIFACT_EMPTY')
    }
  })

  it('no bytes even where that is what the document asks for', async () => {
    const upstream = await server((_request, response) => response.end())
    const { outcome } = await fetchFrom(
      upstream.origin,
      { allowed: [upstream] },
      { sha256: digestOf(Buffer.alloc(0)) },
    )
    expect(errorOf(outcome).code).toBe('ARTIFACT_EMPTY')
  })

  it('142: a wrong digest is fetched twice and then an error with both', async () => {
    const upstream = await server((_request, response) => response.end(other))
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    const { code, details } = errorOf(outcome)
    expect(code).toBe('ARTIFACT_DIGEST_MISMATCH')
    expect(details).toMatchObject({ expected: sha256, found: digestOf(other), artifact: 'rootfs.img' })
    expect(upstream.requests).toHaveLength(2)
  })

  it('142: the second try of a wrong file goes past caches', async () => {
    const upstream = await server(
      (_request, response) => response.end(other),
      (request, response) => response.end(request.headers['cache-control'] === 'no-cache' ? bytes : other),
    )
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    await expectStored(outcome)
  })

  it('longer than the document says: not even begun when announced', async () => {
    const upstream = await server(whole)
    const { outcome, events } = await fetchFrom(upstream.origin, { allowed: [upstream] }, { sizeBytes: 1000 })
    expect(errorOf(outcome).code).toBe('ARTIFACT_TOO_LONG')
    expect(errorOf(outcome).message).toContain('expected 1000 bytes, 3000000 are announced')
    expect(events.filter(({ type }) => type === 'started')).toEqual([])
  })

  it('longer than the document says: stopped as soon as it is', async () => {
    const upstream = await server((_request, response) => {
      const endless = () => {
        while (response.write(other.subarray(0, 10_000))) if (response.destroyed) return
        response.once('drain', endless)
      }
      endless()
    })
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] }, { sizeBytes: bytes.length })
    expect(errorOf(outcome).code).toBe('ARTIFACT_TOO_LONG')
    expect(await incoming()).toEqual([])
  })

  it('packed for the way although it was asked for plain, and the error says so', async () => {
    const upstream = await server((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(other)
    })
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    expect(errorOf(outcome).message).toContain('(the answer has content-encoding gzip)')
  })
})

describe('an answer that does not come', () => {
  it('short: what came is continued, and an error when it never becomes whole', async () => {
    const upstream = await server(proper(bytes, '"v1"', cutAt), proper(bytes, '"v1"', 0))
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    const { code, message } = errorOf(outcome)
    expect(code).toBe('ARTIFACT_TRUNCATED')
    expect(message).toContain('of 3000000 bytes')
    expect((await incoming()).length).toBe(2)
  })

  it('never finishes: stalled', async () => {
    const upstream = await server((_request, response) => {
      response.writeHead(200, { 'Content-Length': bytes.length }).write(bytes.subarray(0, 5000))
    })
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    const { code, message } = errorOf(outcome)
    expect(code).toBe('UPSTREAM_STALLED')
    expect(message).toContain('stalled after 5000 of 3000000 bytes')
    expect(upstream.requests).toHaveLength(3)
  })

  it.each([
    [404, 1, 'ARTIFACT_UNAVAILABLE'],
    [403, 1, 'ARTIFACT_UNAVAILABLE'],
    [503, 3, 'ARTIFACT_UNAVAILABLE'],
    [429, 3, 'ARTIFACT_UNAVAILABLE'],
    [206, 1, 'ARTIFACT_UNAVAILABLE'],
  ])('status %i is asked %i times', async (status, times, code) => {
    const upstream = await server((_request, response) => response.writeHead(status).end(page))
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    expect(errorOf(outcome)).toMatchObject({ code, details: { status, step: 'fetching' } })
    expect(upstream.requests).toHaveLength(times)
  })

  it('waits as long as it is told', async () => {
    const upstream = await server(
      (_request, response) => response.writeHead(503, { 'Retry-After': '7' }).end(),
      whole,
    )
    const { outcome, pauses } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    await expectStored(outcome)
    expect(pauses).toEqual([7000])
  })

  it('nothing listens: unreachable, after three tries', async () => {
    const gone = await startLoopbackServer(whole)
    await gone.close()
    const { outcome, pauses } = await fetchFrom(`${gone.origin}/f`, { allowed: [gone] })
    expect(errorOf(outcome).code).toBe('UPSTREAM_UNREACHABLE')
    expect(pauses).toEqual([2000, 4000])
  })

  it('163: a redirect to an address on this machine is refused, and nothing is asked there', async () => {
    const inside = await server(whole)
    const upstream = await server((_request, response) =>
      response.writeHead(302, { Location: inside.origin }).end(),
    )
    const { outcome } = await fetchFrom(upstream.origin, { allowed: [upstream] })
    expect(errorOf(outcome).code).toBe('UPSTREAM_REFUSED')
    expect(inside.requests).toEqual([])
    expect(upstream.requests).toHaveLength(1)
  })

  it('163: a redirect loop is refused', async () => {
    const upstream = await server((_request, response) => response.writeHead(302, { Location: '/' }).end())
    const { outcome } = await fetchFrom(`${upstream.origin}/`, { allowed: [upstream] })
    expect(errorOf(outcome).code).toBe('UPSTREAM_REFUSED')
  })

  it.each(['missing', '.'])('a file that is not one (%s) is unavailable', async (name) => {
    const { outcome } = await fetchFrom(pathToFileURL(join(directory.path, name)).href, { allowed: [] })
    expect(errorOf(outcome).code).toBe('ARTIFACT_UNAVAILABLE')
  })
})

describe('mirrors', () => {
  it('come first, and upstream is not asked when one has it', async () => {
    const mirror = await server((request, response) => {
      if (request.url === '/fcos/rootfs.img') response.end(bytes)
      else response.writeHead(404).end()
    })
    const upstream = await server(whole)
    const { outcome } = await fetchFrom(`${upstream.origin}/builds/44/rootfs.img`, {
      allowed: [mirror, upstream],
      mirrors: [`${mirror.origin}/fcos`],
    })
    await expectStored(outcome)
    expect(upstream.requests).toEqual([])
  })

  it('that lie are passed over', async () => {
    const mirror = await server((_request, response) => response.end(other))
    const upstream = await server(whole)
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, {
      allowed: [mirror, upstream],
      mirrors: [`${mirror.origin}/{name}`],
    })
    await expectStored(outcome)
  })

  it('that all fail are told in one error, without the logins in their URLs', async () => {
    const mirror = await server((_request, response) => response.writeHead(500).end())
    const upstream = await server((_request, response) => response.writeHead(404).end())
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, {
      allowed: [mirror, upstream],
      mirrors: [`${mirror.origin.replace('//', '//me:secret@')}/{name}`],
    })
    const { message, details } = errorOf(outcome)
    expect(message).toContain(`${mirror.origin}/f: HTTP 500`)
    expect(message).toContain(`${upstream.origin}/f: HTTP 404`)
    expect(JSON.stringify({ message, details })).not.toContain('secret')
  })
})

describe('continuing', () => {
  it('after a cut asks only for the rest', async () => {
    const upstream = await server(proper(bytes, '"v1"', cutAt), proper(bytes))
    const { outcome, events } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
    const starts = events.filter((event) => event.type === 'started')
    expect(starts).toHaveLength(2)
    expect(starts[1]?.resumedAtBytes).toBeGreaterThan(cutAt / 2)
    expect(starts[1]?.resumedAtBytes).toBeLessThanOrEqual(cutAt)
  })

  it('after a restart of the service asks only for the rest', async () => {
    let isDown = true
    const upstream = await server(proper(bytes, '"v1"', cutAt), (request, response) => {
      if (isDown) response.writeHead(503).end()
      else proper(bytes)(request, response)
    })
    const location = `${upstream.origin}/f`
    const first = await fetchFrom(location, { allowed: [upstream] })
    expect(errorOf(first.outcome).code).toBe('ARTIFACT_TRUNCATED')
    isDown = false
    const { outcome, events } = await fetchFrom(location, { allowed: [upstream] })
    await expectStored(outcome)
    expect(events[0]?.type === 'started' && events[0].resumedAtBytes).toBeGreaterThan(cutAt / 2)
  })

  it('starts over when the tag has changed', async () => {
    const upstream = await server(proper(other, '"v1"', cutAt), proper(bytes, '"v2"'))
    const { outcome, events } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
    expect(events.filter(({ type }) => type === 'started').at(-1)).toMatchObject({ resumedAtBytes: 0 })
    expect(upstream.requests).toHaveLength(2)
  })

  it('143: content that changed behind the same tag is caught by its digest and fetched whole', async () => {
    const upstream = await server(proper(other, '"v1"', cutAt), proper(bytes, '"v1"'))
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
    expect(upstream.requests).toHaveLength(3)
  })

  it.each([
    ['another start', () => 'bytes 5-2999999/3000000'],
    ['another total', (from: string) => `bytes ${from}-2999998/2999999`],
    ['not the whole rest', (from: string) => `bytes ${from}-2100000/3000000`],
    ['nothing readable', () => 'bytes what'],
  ])('starts over when the range does not fit: %s', async (_what, rangeFrom) => {
    const upstream = await server(
      proper(bytes, '"v1"', cutAt),
      (request, response) => {
        const from = /\d+/.exec(request.headers.range ?? '')?.[0] ?? ''
        response.writeHead(206, { ETag: '"v1"', 'Content-Range': rangeFrom(from) }).end(bytes)
      },
      (request, response) => (request.headers.range ? response.writeHead(500).end() : response.end(bytes)),
    )
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
  })

  it.each([416, 412])('starts over at status %i', async (status) => {
    const upstream = await server(
      proper(bytes, '"v1"', cutAt),
      (_request, response) => response.writeHead(status).end(),
      (request, response) => (request.headers.range ? response.writeHead(500).end() : response.end(bytes)),
    )
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
  })

  it('goes by the date where there is no tag, and never by a weak tag', async () => {
    const seen: (string | undefined)[] = []
    function cutThenWhole(headers: Record<string, string>): Answer[] {
      return [
        (_request, response) => {
          response.writeHead(200, { ...headers, 'Content-Length': bytes.length })
          response.write(bytes.subarray(0, cutAt), () => setImmediate(() => response.destroy()))
        },
        (request, response) => {
          seen.push(request.headers['if-range'] as string | undefined)
          response.end(bytes)
        },
      ]
    }
    const date = 'Sun, 29 Nov 2026 12:00:00 GMT'
    const dated = await server(...cutThenWhole({ 'Last-Modified': date }))
    await expectStored((await fetchFrom(dated.origin, { allowed: [dated] })).outcome)
    const weak = await server(...cutThenWhole({ ETag: 'W/"v1"' }))
    const cutAgain = await fetchFrom(weak.origin, { allowed: [weak] }, { sha256: digestOf(other) })
    expect(errorOf(cutAgain.outcome).code).toBe('ARTIFACT_DIGEST_MISMATCH')
    expect(seen).toEqual([date, undefined, undefined])
  })

  it('needs no network when everything had arrived before the crash', async () => {
    const layout = layoutOf(directory.path)
    const upstream = await server(whole)
    await fetchFrom(`${upstream.origin}/g`, { allowed: [upstream] }, { sha256: digestOf(other) })
    const path = layout.incomingFile(sha256, 'a1')
    await writeFile(path, bytes)
    await writeFile(
      layout.resumeNote(path),
      JSON.stringify({ url: `${upstream.origin}/f`, validator: '"v1"' }),
    )
    const asked = upstream.requests.length
    const { outcome } = await fetchFrom(`${upstream.origin}/f`, { allowed: [upstream] })
    await expectStored(outcome)
    expect(upstream.requests).toHaveLength(asked)
  })

  it('keeps what came when it is aborted', async () => {
    const abort = new AbortController()
    const upstream = await server((_request, response) => {
      response.writeHead(200, { ETag: '"v1"', 'Content-Length': bytes.length })
      response.write(bytes.subarray(0, cutAt), () => abort.abort(new Error('enough')))
    }, proper(bytes))
    const location = `${upstream.origin}/f`
    const first = await fetchFrom(location, { allowed: [upstream], signal: abort.signal })
    expect(errorOf(first.outcome).message).toBe('enough')
    const { outcome } = await fetchFrom(location, { allowed: [upstream] })
    await expectStored(outcome)
  })
})
