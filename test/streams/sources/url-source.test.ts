import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { maxDocumentBytes, parseMetadata } from '../../../src/streams/parse-document.ts'
import { createSource } from '../../../src/streams/sources/create-source.ts'
import type { MetadataSource, SourceAnswer, Validators } from '../../../src/streams/sources/source.ts'
import { metadataSourceContract } from '../../contracts/metadata-source.ts'
import {
  createScriptedUpstream,
  type ScriptedAnswer,
  type ScriptedUpstream,
} from '../../fakes/scripted-upstream.ts'
import { bytesOf, streamDocument } from '../../fixtures/streams/documents.ts'

const url = 'https://builds.example/streams/stable.json'
const near = 'http://near.example/stable.json'
const far = 'http://far.example/stable.json'
const body = bytesOf(streamDocument())

function source(client: ScriptedUpstream, mirrors: readonly string[] = []): MetadataSource {
  return createSource({ kind: 'url', url, mirrors, client })
}

/** What a fetch from the one location comes to. */
function fetchFrom(answer: ScriptedAnswer): Promise<SourceAnswer<unknown>> {
  return source(createScriptedUpstream(() => answer)).fetch({ read: parseMetadata })
}

describe('a source over http', () => {
  metadataSourceContract(async () => {
    let held: Uint8Array | undefined
    const client = createScriptedUpstream(() => (held === undefined ? { status: 404 } : { body: held }))
    return {
      source: source(client),
      async put(bytes) {
        held = bytes
      },
      async dispose() {},
    }
  })

  it('takes the directory of the document for its base, without login and query', () => {
    const client = createScriptedUpstream(() => ({}))
    const withLogin = 'https://user:secret@builds.example/44/x86_64/meta.json?token=1'
    const made = createSource({ kind: 'url', url: withLogin, client })
    expect(made.baseUrl).toBe('https://builds.example/44/x86_64/')
    expect(made.description).toBe('https://builds.example/44/x86_64/meta.json')
  })

  it.each([304, 204, 206, 301, 403, 404, 429, 500, 503])('status %i is no document', async (status) => {
    await expect(fetchFrom({ status, body })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${url}: answered with status ${status}`,
      details: { place: url, status },
    })
  })

  it.each([
    ['a shorter body', body.length + 1, `announced ${body.length + 1} bytes and sent ${body.length}`],
    ['a longer body', body.length - 1, `announced ${body.length - 1} bytes and sent ${body.length}`],
  ])('%s than announced is not believed', async (_, length, message) => {
    await expect(fetchFrom({ headers: { 'content-length': String(length) }, body })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${url}: ${message}`,
    })
  })

  it.each([String(body.length), 'many', '1, 2'])(
    'a length of %j is fine when it fits or says nothing',
    async (length) => {
      await expect(fetchFrom({ headers: { 'content-length': length }, body })).resolves.toMatchObject({
        kind: 'document',
      })
    },
  )

  it('a body that breaks off is unavailable and says how far it came', async () => {
    const broken = new ServiceError('UPSTREAM_STALLED', 'no progress for 30 s')
    await expect(fetchFrom({ body: [body.slice(0, 100), broken] })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${url}: broke off after 100 bytes (no progress for 30 s)`,
      cause: broken,
    })
  })

  it('nothing that answers is unavailable, and why', async () => {
    const refused = new ServiceError('UPSTREAM_REFUSED', 'redirected to 169.254.169.254')
    await expect(fetchFrom(refused)).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${url}: redirected to 169.254.169.254`,
      cause: refused,
    })
  })

  it('a compressed body is refused, an identity one is not', async () => {
    await expect(fetchFrom({ headers: { 'content-encoding': 'gzip' }, body })).rejects.toMatchObject({
      code: 'METADATA_INVALID',
      message: expect.stringContaining('compressed with gzip'),
    })
    await expect(fetchFrom({ headers: { 'content-encoding': 'identity' }, body })).resolves.toBeDefined()
  })

  it('an announced length beyond the limit is refused before a byte is read', async () => {
    const unread = [new Error('was read')]
    const headers = { 'content-length': String(maxDocumentBytes + 1) }
    await expect(fetchFrom({ headers, body: unread })).rejects.toMatchObject({ code: 'METADATA_INVALID' })
  })

  it('an endless body is given up at the limit', async () => {
    const megabyte = new Uint8Array(1024 * 1024).fill(0x20)
    const endless = [...Array.from({ length: 40 }, () => megabyte), new Error('was read on')]
    await expect(fetchFrom({ body: endless })).rejects.toMatchObject({
      code: 'METADATA_INVALID',
      message: expect.stringContaining('more than'),
    })
  })

  it('holds no connection, whatever the answer was', async () => {
    const answers: ScriptedAnswer[] = [
      { body },
      { status: 500 },
      { body: 'x' },
      { body: [new Error('broken')] },
    ]
    for (const answer of answers) {
      const client = createScriptedUpstream(() => answer)
      await source(client)
        .fetch({ read: parseMetadata })
        .catch(() => {})
      expect(client.released).toBe(1)
    }
  })
})

describe('conditional requests', () => {
  const headers = { etag: '"abc"', 'last-modified': 'Tue, 21 Jul 2026 14:00:00 GMT' }

  async function validatorsFrom(given: Record<string, string>): Promise<Validators | undefined> {
    const answer = await fetchFrom({ headers: given, body })
    return answer.kind === 'document' ? answer.validators : undefined
  }

  it('give back what the server said of the last document', async () => {
    const client = createScriptedUpstream(({ headers: asked }) =>
      asked?.['if-none-match'] === '"abc"' ? { status: 304 } : { headers, body },
    )
    const made = source(client)
    const first = await made.fetch({ read: parseMetadata })
    if (first.kind !== 'document' || first.validators === undefined) throw new Error('no validators')
    const second = await made.fetch({ read: parseMetadata, since: first.validators })
    expect(second).toEqual({ kind: 'unchanged', url, viaMirror: false })
    expect(client.requests[0]?.headers).not.toHaveProperty('if-none-match')
    expect(client.requests[1]?.headers).toMatchObject({
      'if-none-match': '"abc"',
      'if-modified-since': 'Tue, 21 Jul 2026 14:00:00 GMT',
    })
  })

  it('are only made to the location that gave the validators', async () => {
    const client = createScriptedUpstream(() => ({ body }))
    await source(client, [near]).fetch({ read: parseMetadata, since: { url, etag: '"abc"' } })
    expect(client.requests.map((request) => request.url)).toEqual([near])
    expect(client.requests[0]?.headers).not.toHaveProperty('if-none-match')
  })

  it('need a validator of bounded length', async () => {
    expect(await validatorsFrom({})).toBeUndefined()
    expect(await validatorsFrom({ etag: 'x'.repeat(513) })).toBeUndefined()
    expect(await validatorsFrom({ etag: '"a"' })).toEqual({ url, etag: '"a"' })
    const lastModified = 'Tue, 21 Jul 2026 14:00:00 GMT'
    expect(await validatorsFrom({ 'last-modified': lastModified })).toEqual({ url, lastModified })
  })
})

describe('metadata mirrors', () => {
  const good = { body }

  it('are asked first, in their order, and the first good answer counts', async () => {
    const client = createScriptedUpstream(() => good)
    const made = source(client, [near, far])
    expect(made.hasMirrors).toBe(true)
    expect(await made.fetch({ read: parseMetadata })).toMatchObject({ url: near, viaMirror: true })
    expect(client.requests).toHaveLength(1)
  })

  it('G4 that fail or give no document are passed over, down to the canonical place', async () => {
    const answers: Record<string, ScriptedAnswer> = {
      [near]: { status: 503 },
      [far]: { body: '<html>captive portal</html>' },
      [url]: good,
    }
    const client = createScriptedUpstream((request) => answers[request.url] ?? new Error('unexpected'))
    const answer = await source(client, [near, far]).fetch({ read: parseMetadata })
    expect(answer).toMatchObject({ kind: 'document', url, viaMirror: false })
    expect(client.requests.map((request) => request.url)).toEqual([near, far, url])
  })

  it('G9 are passed by when the canonical place is to confirm', async () => {
    const client = createScriptedUpstream(() => good)
    const answer = await source(client, [near, far]).fetch({ read: parseMetadata, canonical: true })
    expect(answer).toMatchObject({ url, viaMirror: false })
    expect(client.requests.map((request) => request.url)).toEqual([url])
  })

  it('when every location fails, the error tells of each and has the code of the canonical one', async () => {
    const client = createScriptedUpstream((request) => (request.url === url ? { body: '' } : { status: 404 }))
    await expect(source(client, [near]).fetch({ read: parseMetadata })).rejects.toMatchObject({
      code: 'METADATA_INVALID',
      message: `${near}: answered with status 404; ${url}: the document is empty: zero bytes; expected JSON, or a ConfigMap in YAML`,
      details: { attempts: 2 },
    })
  })

  it('an abort ends it, no further location is asked', async () => {
    const stop = new AbortController()
    const tooSlow = new ServiceError('METADATA_UNAVAILABLE', 'too slow')
    const client = createScriptedUpstream(() => {
      stop.abort(tooSlow)
      return good
    })
    const fetching = source(client, [near, far]).fetch({ read: parseMetadata, signal: stop.signal })
    await expect(fetching).rejects.toBe(tooSlow)
    expect(client.requests).toHaveLength(1)
  })

  it('an abort in the middle of a body ends it with the reason', async () => {
    const stop = new AbortController()
    const stopped = new Error('stopped')
    const client = createScriptedUpstream(() => ({ body: [body.slice(0, 10), body.slice(10)] }))
    const read = client.request.bind(client)
    const slow = {
      request: async (request: Parameters<typeof read>[0]) => {
        const response = await read(request)
        stop.abort(stopped)
        return response
      },
    }
    const made = createSource({ kind: 'url', url, mirrors: [near], client: slow })
    await expect(made.fetch({ read: parseMetadata, signal: stop.signal })).rejects.toBe(stopped)
    expect(client.requests).toHaveLength(1)
  })

  it('a programming error is not taken for a location that failed', async () => {
    const client = createScriptedUpstream(() => good)
    const read = () => {
      throw new TypeError('a mistake')
    }
    await expect(source(client, [near]).fetch({ read })).rejects.toThrow('a mistake')
    expect(client.requests).toHaveLength(1)
  })
})
