import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/core/errors.ts'
import {
  createRefresher,
  type RefreshedDocument,
  type Refresher,
  type RefresherOptions,
  type RefreshFailure,
} from '../../src/streams/refresher.ts'
import { createSource } from '../../src/streams/sources/create-source.ts'
import type { MetadataSource } from '../../src/streams/sources/source.ts'
import { createManualTime, type ManualTime, settled } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import {
  createScriptedUpstream,
  type ScriptedAnswer,
  type ScriptedUpstream,
} from '../fakes/scripted-upstream.ts'
import { bytesOf, metaDocument, releaseIndex, streamDocument } from '../fixtures/streams/documents.ts'

const url = 'https://builds.example/streams/stable.json'
const near = 'http://near.example/stable.json'
const minute = 60_000
const june = bytesOf(streamDocument({ release: '43.20260601.3.0' }))
const july = bytesOf(streamDocument({ release: '44.20260707.3.1' }))

interface Setup {
  readonly refresher: Refresher
  readonly time: ManualTime
  readonly client: ScriptedUpstream
  readonly documents: RefreshedDocument[]
  readonly unchanged: RefreshedDocument[]
  readonly failures: RefreshFailure[]
  readonly log: ReturnType<typeof createRecordingLog>
}

function setUp(
  answer: (request: {
    url: string
    headers?: Readonly<Record<string, string>>
  }) => ScriptedAnswer | Promise<ScriptedAnswer>,
  extra: Partial<RefresherOptions> & { mirrors?: readonly string[] } = {},
): Setup {
  const time = createManualTime()
  const client = createScriptedUpstream(answer)
  const documents: RefreshedDocument[] = []
  const unchanged: RefreshedDocument[] = []
  const failures: RefreshFailure[] = []
  const log = createRecordingLog()
  const refresher = createRefresher({
    stream: 'fcos-stable',
    source: createSource({ kind: 'url', url, mirrors: extra.mirrors ?? [], client }),
    hints: {},
    clock: time,
    timers: time,
    random: () => 0.5,
    log,
    refreshMs: 15 * minute,
    onDocument: (document) => void documents.push(document),
    onUnchanged: (document) => void unchanged.push(document),
    onFailure: (failure) => void failures.push(failure),
    ...extra,
  })
  return { refresher, time, client, documents, unchanged, failures, log }
}

function releaseOf(document: RefreshedDocument | undefined): string | undefined {
  return document?.resolution.bootimages[0]?.release
}

describe('a refresher', () => {
  it('gives every new document with what it resolves to', async () => {
    const { refresher, time, documents } = setUp(() => ({ body: july }))
    const outcome = await refresher.refreshNow()
    expect(outcome).toEqual({ kind: 'document', document: documents[0] })
    expect(documents[0]).toMatchObject({
      stream: 'fcos-stable',
      digest: createHash('sha256').update(july).digest('hex'),
      url,
      viaMirror: false,
      fetchedAt: time.now(),
      metadata: { format: 'stream', label: 'stable' },
    })
    expect(documents[0]?.resolution.bootimages.map(({ id }) => id.replace(/[^/]*$/, ''))).toEqual([
      'fcos-stable/x86_64/44.20260707.3.1/',
      'fcos-stable/aarch64/44.20260707.3.1/',
    ])
    expect(Buffer.from(documents[0]?.bytes ?? []).equals(july)).toBe(true)
  })

  it('refreshes at once when started, and from then on about every refreshMs', async () => {
    const bodies = [june, july]
    const { refresher, time, documents } = setUp(() => ({ body: bodies.shift() ?? july }))
    refresher.start()
    await settled()
    expect(documents.map(releaseOf)).toEqual(['43.20260601.3.0'])
    await time.advance(15 * minute - 1)
    expect(documents).toHaveLength(1)
    await time.advance(1)
    expect(documents.map(releaseOf)).toEqual(['43.20260601.3.0', '44.20260707.3.1'])
    await refresher.stop()
  })

  it('G9 the same document again is told as such, because it confirms what waits for a second refresh', async () => {
    const { refresher, time, documents, unchanged } = setUp(() => ({ body: july }))
    await refresher.refreshNow()
    await time.advance(1000)
    const outcome = await refresher.refreshNow()
    expect(outcome).toEqual({ kind: 'unchanged', document: unchanged[0] })
    expect(documents).toHaveLength(1)
    expect(unchanged[0]).toEqual({ ...documents[0], fetchedAt: time.now() })
  })

  it('G9 an answer of "not modified" confirms as well, with the document it speaks of', async () => {
    const { refresher, time, client, unchanged } = setUp(({ headers }) =>
      headers?.['if-none-match'] === '"1"' ? { status: 304 } : { headers: { etag: '"1"' }, body: july },
    )
    await refresher.refreshNow()
    for (const turn of [1, 2]) {
      await time.advance(1000)
      expect((await refresher.refreshNow()).kind).toBe('unchanged')
      expect(releaseOf(unchanged.at(-1))).toBe('44.20260707.3.1')
      expect(unchanged.at(-1)?.fetchedAt).toBe(time.now())
      expect(client.requests).toHaveLength(1 + turn)
    }
  })

  it.each([
    ['HTML', { body: '<html>' }, 'METADATA_INVALID'],
    ['zero bytes', { body: '' }, 'METADATA_INVALID'],
    ['half a document', { body: july.slice(0, 1000) }, 'METADATA_INVALID'],
    ['a release index', { body: bytesOf(releaseIndex('44.20260707.3.1')) }, 'METADATA_INVALID'],
    ['status 404', { status: 404 }, 'METADATA_UNAVAILABLE'],
    ['nothing', new ServiceError('UPSTREAM_UNREACHABLE', 'connection refused'), 'METADATA_UNAVAILABLE'],
  ])('G4 %s is a failure and nothing else', async (_, answer: ScriptedAnswer, code) => {
    let isBroken = false
    const { refresher, time, client, documents, unchanged, failures } = setUp(() =>
      isBroken ? answer : { headers: { etag: '"1"' }, body: july },
    )
    await refresher.refreshNow()
    isBroken = true
    const outcome = await refresher.refreshNow()
    expect(outcome).toEqual({ kind: 'failed', failure: failures[0] })
    expect(failures[0]).toMatchObject({ code, at: time.now() })
    expect(failures[0]?.message).toContain(url)
    expect([documents.length, unchanged.length]).toEqual([1, 0])
    isBroken = false
    expect((await refresher.refreshNow()).kind).toBe('unchanged')
    expect(client.requests.at(-1)?.headers).toMatchObject({ 'if-none-match': '"1"' })
  })

  it('a document that could not be read is asked for again without condition', async () => {
    const bodies = [july.slice(0, 1000), july]
    const { refresher, client } = setUp(() => ({ headers: { etag: '"half"' }, body: bodies.shift() ?? july }))
    expect((await refresher.refreshNow()).kind).toBe('failed')
    expect((await refresher.refreshNow()).kind).toBe('document')
    expect(client.requests[1]?.headers).not.toHaveProperty('if-none-match')
  })

  it('a document that could not be recorded comes again', async () => {
    let isFull = true
    const seen: string[] = []
    const { refresher, client, failures } = setUp(() => ({ headers: { etag: '"1"' }, body: july }), {
      async onDocument({ digest }) {
        seen.push(digest)
        if (isFull) throw new ServiceError('STATE_UNAVAILABLE', 'disk full')
      },
    })
    expect((await refresher.refreshNow()).kind).toBe('failed')
    expect(failures[0]?.code).toBe('STATE_UNAVAILABLE')
    isFull = false
    expect((await refresher.refreshNow()).kind).toBe('document')
    expect(seen).toHaveLength(2)
    expect(client.requests[1]?.headers).not.toHaveProperty('if-none-match')
  })

  it('G4 retries soon after a failure, then less and less often, and is back to normal after a good one', async () => {
    let isBroken = true
    const { refresher, time, client } = setUp(() => (isBroken ? { status: 503 } : { body: july }), {
      random: () => 0.9999999,
      retry: { firstMs: 1000, maxMs: 5000 },
    })
    const askedAt: number[] = []
    const start = time.now()
    refresher.start()
    await settled()
    for (let second = 1; second <= 18; second++) {
      const before = client.requests.length
      await time.advance(1000)
      if (client.requests.length > before) askedAt.push((time.now() - start) / 1000)
    }
    expect(askedAt).toEqual([1, 3, 7, 12, 17])
    isBroken = false
    await time.advance(5000)
    const asked = client.requests.length
    await time.advance(14 * minute)
    expect(client.requests).toHaveLength(asked)
    await refresher.stop()
  })

  it('refreshes that are asked for while one is under way join it', async () => {
    const { refresher, client, documents } = setUp(() => ({ body: july }))
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => refresher.refreshNow()))
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['document']))
    expect([client.requests.length, documents.length]).toEqual([1, 1])
  })

  it('a fresh one goes past every cache, and does not join one that does not', async () => {
    const { refresher, client } = setUp(() => ({ headers: { etag: '"1"' }, body: july }))
    await refresher.refreshNow()
    const plain = refresher.refreshNow()
    const fresh = refresher.refreshNow({ fresh: true })
    const joined = refresher.refreshNow()
    await Promise.all([plain, fresh, joined, refresher.refreshNow({ fresh: true })])
    expect(
      client.requests.map(({ headers }) => [headers?.['if-none-match'], headers?.['cache-control']]),
    ).toEqual([
      [undefined, undefined],
      ['"1"', undefined],
      [undefined, 'no-cache'],
    ])
  })

  it('a refresh that was asked for moves the next one', async () => {
    const { refresher, time, client } = setUp(() => ({ body: july }))
    refresher.start()
    await settled()
    await time.advance(10 * minute)
    await refresher.refreshNow()
    await time.advance(14 * minute)
    expect(client.requests).toHaveLength(2)
    await time.advance(minute)
    expect(client.requests).toHaveLength(3)
    await refresher.stop()
  })

  it('a source that never finishes is given up after the time for one attempt', async () => {
    const { refresher, time, failures } = setUp(() => ({}), {
      source: neverEnding(),
      attemptTimeoutMs: 30_000,
    })
    const outcome = refresher.refreshNow()
    await time.advance(30_000)
    expect((await outcome).kind).toBe('failed')
    expect(failures[0]).toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: 'never.json: gave no document within 30 s',
    })
    expect(time.pending).toBe(0)
  })

  it('stopped, it ends what is under way and calls nobody any more', async () => {
    const { refresher, time, documents, failures } = setUp(() => ({}), { source: neverEnding() })
    refresher.start()
    const joined = refresher.refreshNow()
    await refresher.stop()
    await refresher.stop()
    expect(await joined).toEqual({ kind: 'stopped' })
    expect(await refresher.refreshNow()).toEqual({ kind: 'stopped' })
    refresher.start()
    await time.advance(60 * minute)
    expect([documents.length, failures.length, time.pending]).toEqual([0, 0, 0])
  })

  it('a document that arrives while it is being stopped is not told', async () => {
    const { refresher, documents } = setUp(() => ({}), {
      source: {
        ...neverEnding(),
        async fetch({ read }) {
          void refresher.stop()
          return { kind: 'document', url, viaMirror: false, bytes: july, document: read(july) }
        },
      },
    })
    expect(await refresher.refreshNow()).toEqual({ kind: 'stopped' })
    expect(documents).toHaveLength(0)
  })

  it.each(['before', 'after'])('a signal aborted %s the start stops it', async (when) => {
    const stop = new AbortController()
    const { refresher, time, client } = setUp(() => ({ body: july }))
    if (when === 'before') stop.abort()
    refresher.start(stop.signal)
    refresher.start(stop.signal)
    await settled()
    stop.abort()
    await time.advance(60 * minute)
    expect(client.requests).toHaveLength(when === 'before' ? 0 : 1)
    expect(time.pending).toBe(0)
  })

  it('a change of a watched source is read at once, also when one is being read just then', async () => {
    let announce = () => {}
    let isWatched = true
    const bodies = [june, june, july]
    const watched: MetadataSource = {
      ...neverEnding(),
      async fetch({ read }) {
        const bytes = bodies.shift() ?? july
        if (bodies.length === 1) announce()
        return { kind: 'document', url: 'watched.json', viaMirror: false, bytes, document: read(bytes) }
      },
      watch(onChange) {
        announce = onChange
        return () => {
          isWatched = false
        }
      },
    }
    const { refresher, time, documents } = setUp(() => ({}), { source: watched })
    refresher.start()
    await settled()
    announce()
    await time.advance(0)
    expect(documents.map(releaseOf)).toEqual(['43.20260601.3.0', '44.20260707.3.1'])
    await refresher.stop()
    expect(isWatched).toBe(false)
  })

  it('takes the base URL of the source for documents without places, unless one is configured', async () => {
    const meta = bytesOf(metaDocument())
    const first = setUp(() => ({ body: meta }))
    await first.refresher.refreshNow()
    expect(first.documents[0]?.resolution.bootimages[0]?.kernel.location).toMatch(
      /^https:\/\/builds\.example\/streams\/fedora-coreos-/,
    )
    const second = setUp(() => ({ body: meta }), { hints: { baseUrl: 'http://mirror.example/44/' } })
    await second.refresher.refreshNow()
    expect(second.documents[0]?.resolution.bootimages[0]?.kernel.location).toMatch(
      /^http:\/\/mirror\.example\/44\//,
    )
  })

  it('G9 can ask the canonical place, past mirrors, in the middle of a refresh', async () => {
    const canonical: RefreshedDocument[] = []
    const { refresher, documents, client } = setUp(
      (request) => ({ body: request.url === near ? june : july }),
      {
        mirrors: [near],
        async onDocument(document) {
          documents.push(document)
          canonical.push(await refresher.fetchCanonical())
        },
      },
    )
    await refresher.refreshNow()
    expect(documents.map(({ viaMirror }) => viaMirror)).toEqual([true])
    expect(canonical.map((document) => [document.url, document.viaMirror, releaseOf(document)])).toEqual([
      [url, false, '44.20260707.3.1'],
    ])
    expect(client.requests.map((request) => request.url)).toEqual([near, url])
    await expect(setUp(() => ({ status: 500 })).refresher.fetchCanonical()).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
    })
  })

  it('a source that says "unchanged" without having been asked is a failure', async () => {
    const odd: MetadataSource = {
      ...neverEnding(),
      fetch: async () => ({ kind: 'unchanged', url: 'odd.json', viaMirror: false }),
    }
    const { refresher, failures } = setUp(() => ({}), { source: odd })
    expect((await refresher.refreshNow()).kind).toBe('failed')
    expect(failures[0]?.message).toContain('odd.json')
    await expect(refresher.fetchCanonical()).rejects.toThrow('odd.json')
  })

  it('a mistake in whoever listens is logged and does not end the refreshing', async () => {
    const { refresher, log, time, client } = setUp(() => ({ body: july }), {
      onDocument() {
        throw new TypeError('a mistake')
      },
      onFailure() {
        throw new TypeError('another mistake')
      },
    })
    refresher.start()
    await settled()
    await time.advance(5000)
    expect(client.requests).toHaveLength(2)
    expect(log.lines.map(({ level, message }) => [level, message]).slice(0, 2)).toEqual([
      ['error', 'refreshing a stream failed unexpectedly'],
      ['error', 'reporting a failed refresh failed'],
    ])
    await refresher.stop()
  })
})

/** A source whose fetch ends only when it is aborted. */
function neverEnding(): MetadataSource {
  return {
    description: 'never.json',
    hasMirrors: false,
    fetch: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
    async close() {},
  }
}
