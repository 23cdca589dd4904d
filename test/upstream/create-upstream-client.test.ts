import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { UpstreamClient, UpstreamOptions, UpstreamResponse } from '../../src/upstream/client.ts'
import { createUpstreamClient, type UpstreamEdges } from '../../src/upstream/create-upstream-client.ts'
import { type LoopbackServer, startLoopbackServer } from '../fakes/loopback-server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Answer = Parameters<typeof startLoopbackServer>[0]

async function server(answer: Answer): Promise<LoopbackServer> {
  const started = await startLoopbackServer(answer)
  closers.push(() => started.close())
  return started
}

function client(options: Partial<UpstreamOptions> & UpstreamEdges = {}): UpstreamClient {
  const made = createUpstreamClient({ allowedOrigins: [], ...options })
  closers.push(() => made.close())
  return made
}

async function text(response: UpstreamResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
}

const resolvesToLoopback: UpstreamEdges = {
  resolve: (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
}

describe('a plain request', () => {
  it('gives status, lower-case headers and the body, and asks for nothing compressed', async () => {
    const seen: Record<string, unknown>[] = []
    const { origin } = await server((request, response) => {
      seen.push(request.headers)
      response.writeHead(200, { ETag: '"a"', 'X-Twice': ['1', '2'] }).end('hello')
    })
    const upstream = client({ allowedOrigins: [origin], userAgent: 'pilotlight/9' })
    const response = await upstream.request({ url: `${origin}/a?b=c`, headers: { 'If-None-Match': '"b"' } })
    expect(response).toMatchObject({ status: 200, url: `${origin}/a?b=c` })
    expect(response.headers).toMatchObject({ etag: '"a"', 'x-twice': '1, 2' })
    expect(await text(response)).toBe('hello')
    expect(seen[0]).toMatchObject({
      'user-agent': 'pilotlight/9',
      'accept-encoding': 'identity',
      'if-none-match': '"b"',
    })
  })

  it.each([304, 404, 500, 503])('status %i is a value, not an error', async (status) => {
    const { origin } = await server((_request, response) => response.writeHead(status).end())
    const response = await client({ allowedOrigins: [origin] }).request({ url: origin })
    expect(response.status).toBe(status)
    await response.discard()
  })

  it('HEAD brings headers and no body', async () => {
    const { origin, requests } = await server((_request, response) =>
      response.writeHead(200, { 'Content-Length': '1000' }).end(),
    )
    const response = await client({ allowedOrigins: [origin] }).request({
      url: `${origin}/f`,
      method: 'HEAD',
    })
    expect(response.headers['content-length']).toBe('1000')
    expect(await text(response)).toBe('')
    expect(requests).toEqual(['HEAD /f'])
  })

  it('a body that is given up lets the client close', async () => {
    const { origin } = await server((_request, response) => {
      response.write('x'.repeat(100_000))
    })
    const upstream = client({ allowedOrigins: [origin] })
    const response = await upstream.request({ url: origin })
    await response.discard()
    await upstream.close()
  })

  it('a login in the URL goes to that origin and into no error', async () => {
    const seen: (string | undefined)[] = []
    const { origin } = await server((request, response) => {
      seen.push(request.headers.authorization)
      response.end()
    })
    const upstream = client({ allowedOrigins: [origin] })
    const response = await upstream.request({ url: origin.replace('//', '//me:p%40ss@') })
    expect(seen).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`])
    expect(response.url).not.toContain('me')
    await response.discard()
  })
})

describe('failures', () => {
  it('nothing listens', async () => {
    const gone = await startLoopbackServer(() => {})
    await gone.close()
    const failure = client({ allowedOrigins: [gone.origin] }).request({ url: `${gone.origin}/f?token=1` })
    await expect(failure).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringMatching(/^requesting http:\/\/127\.0\.0\.1:\d+\/f: .*ECONNREFUSED/),
    })
  })

  it('a name that does not resolve', async () => {
    const upstream = client({
      resolve: (_h, _o, callback) => callback(Object.assign(new Error('no name'), { code: 'ENOTFOUND' }), []),
    })
    await expect(upstream.request({ url: 'http://mirror.example/' })).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: 'requesting http://mirror.example/: no name (ENOTFOUND)',
    })
  })

  it('a server that never answers is stalled', async () => {
    const { origin } = await server(() => {})
    const upstream = client({ allowedOrigins: [origin], stallTimeoutMs: 150 })
    await expect(upstream.request({ url: origin })).rejects.toMatchObject({ code: 'UPSTREAM_STALLED' })
  })

  it('an answer that stops in the middle is stalled', async () => {
    const { origin } = await server((_request, response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('abc')
    })
    const upstream = client({ allowedOrigins: [origin], stallTimeoutMs: 150 })
    const response = await upstream.request({ url: origin })
    await expect(text(response)).rejects.toMatchObject({ code: 'UPSTREAM_STALLED' })
  })

  it('an answer that breaks off is unreachable, whether or not it is being read', async () => {
    const { origin } = await server((_request, response) => {
      response.writeHead(200, { 'Content-Length': '10' })
      response.write('abc', () => response.destroy())
    })
    const upstream = client({ allowedOrigins: [origin] })
    const response = await upstream.request({ url: origin })
    await new Promise((resolve) => setImmediate(resolve))
    await expect(text(response)).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
  })

  it('something that is not HTTP is unreachable', async () => {
    const raw = createServer((socket) => {
      socket.on('error', () => {})
      socket.end('SSH-2.0-OpenSSH\r\n')
    })
    raw.listen(0, '127.0.0.1')
    await once(raw, 'listening')
    closers.push(async () => raw.close())
    const origin = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`
    await expect(client({ allowedOrigins: [origin] }).request({ url: origin })).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
    })
  })

  it('headers without bound are cut off', async () => {
    const { origin } = await server((_request, response) => {
      response.writeHead(200, { 'X-Long': 'x'.repeat(40_000) }).end()
    })
    await expect(client({ allowedOrigins: [origin] }).request({ url: origin })).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      details: { code: 'UND_ERR_HEADERS_OVERFLOW' },
    })
  })

  it('an abort rejects with its own reason, before and while the body is read', async () => {
    const { origin } = await server((_request, response) => {
      response.writeHead(200).write('abc')
    })
    const upstream = client({ allowedOrigins: [origin] })
    const reason = new Error('enough')
    await expect(upstream.request({ url: origin, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const abort = new AbortController()
    const response = await upstream.request({ url: origin, signal: abort.signal })
    abort.abort(reason)
    await expect(text(response)).rejects.toBe(reason)
  })

  it('an origin that is none is a configuration error', () => {
    expect(() => createUpstreamClient({ allowedOrigins: ['mirror.example'] })).toThrow('not an origin')
  })
})

describe('redirects (field case 163)', () => {
  it('are followed, and the answer names where it came from', async () => {
    const { origin } = await server((request, response) => {
      if (request.url === '/end') return response.end('end')
      return response.writeHead(302, { Location: '/end' }).end()
    })
    const response = await client({ allowedOrigins: [origin] }).request({ url: `${origin}/start` })
    expect(response.url).toBe(`${origin}/end`)
    expect(await text(response)).toBe('end')
  })

  it('in a circle are refused', async () => {
    const { origin, requests } = await server((request, response) =>
      response.writeHead(302, { Location: request.url === '/a' ? '/b' : '/a' }).end(),
    )
    const failure = client({ allowedOrigins: [origin] }).request({ url: `${origin}/a` })
    await expect(failure).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: `following the redirect of ${origin}/b to ${origin}/a: it leads in a circle`,
    })
    expect(requests).toHaveLength(2)
  })

  it('without end are refused after five', async () => {
    const { origin, requests } = await server((request, response) =>
      response.writeHead(302, { Location: `${request.url}x` }).end(),
    )
    const failure = client({ allowedOrigins: [origin] }).request({ url: `${origin}/a` })
    await expect(failure).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' })
    expect(requests).toHaveLength(6)
  })

  it('to a loopback origin that nobody wrote down are refused, and nothing is asked there', async () => {
    const inside = await server((_request, response) => response.end('secret'))
    const { origin } = await server((_request, response) =>
      response.writeHead(302, { Location: `${inside.origin}/metadata` }).end(),
    )
    await expect(client({ allowedOrigins: [origin] }).request({ url: origin })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
    })
    expect(inside.requests).toEqual([])
  })

  it('never carry one origin’s headers or login to another', async () => {
    const seen: Record<string, unknown>[] = []
    const other = await server((request, response) => {
      seen.push(request.headers)
      response.end()
    })
    const { origin } = await server((request, response) => {
      seen.push(request.headers)
      response.writeHead(307, { Location: other.origin }).end()
    })
    const upstream = client({
      allowedOrigins: [origin, other.origin],
      headers: { [origin]: { 'X-Token': 'one' }, [other.origin]: { 'X-Other': 'two' } },
    })
    const response = await upstream.request({
      url: origin.replace('//', '//me:secret@'),
      headers: { Range: 'bytes=5-', Cookie: 'c', 'X-Key': 'k' },
    })
    await response.discard()
    expect(seen[0]).toMatchObject({ 'x-token': 'one', cookie: 'c', range: 'bytes=5-' })
    expect(seen[0]).toHaveProperty('authorization')
    expect(seen[1]).toMatchObject({ 'x-other': 'two', range: 'bytes=5-' })
    for (const header of ['x-token', 'x-key', 'cookie', 'authorization'])
      expect(seen[1]).not.toHaveProperty(header)
  })
})

describe('addresses (field case 163)', () => {
  it.each([
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0/',
    'http://localhost:1/',
  ])('%s is refused', async (url) => {
    await expect(client().request({ url })).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' })
  })

  it('a name that leads to this machine is refused when connecting, and nothing is asked there', async () => {
    const inside = await server((_request, response) => response.end('secret'))
    const url = inside.origin.replace('127.0.0.1', 'mirror.example')
    await expect(client(resolvesToLoopback).request({ url })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('mirror.example has the loopback address 127.0.0.1'),
    })
    expect(inside.requests).toEqual([])
  })

  it.each(['file:///etc/passwd', 'ftp://mirror.example/', 'nonsense'])('%s is not asked', async (url) => {
    await expect(client().request({ url })).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' })
  })
})

describe('a proxy', () => {
  async function proxy() {
    const started = await server((request, response) => response.end(`asked for ${request.url}`))
    const tunnels: string[] = []
    return { ...started, tunnels }
  }

  it('gets plain http as plain requests, and is not passed by', async () => {
    const { origin } = await proxy()
    const response = await client({ proxy: origin }).request({ url: 'http://mirror.example/f?x=1' })
    expect(await text(response)).toBe('asked for http://mirror.example/f?x=1')
  })

  it('is left out for what NO_PROXY names', async () => {
    const { origin, requests } = await proxy()
    const direct = client({ proxy: origin, noProxy: '.example', ...resolvesToLoopback })
    await expect(direct.request({ url: 'http://mirror.example/' })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
    })
    expect(requests).toEqual([])
  })

  it('is not asked for addresses that are refused', async () => {
    const { origin, requests } = await proxy()
    await expect(client({ proxy: origin }).request({ url: 'http://169.254.169.254/' })).rejects.toMatchObject(
      { code: 'UPSTREAM_REFUSED' },
    )
    expect(requests).toEqual([])
  })

  it('tunnels https, whose certificate is checked against the private CA', async () => {
    const secure = createTlsServer(
      { cert: fixture('server.pem'), key: fixture('server.key') },
      (_request, response) => response.end('secure'),
    )
    secure.listen(0, '127.0.0.1')
    await once(secure, 'listening')
    closers.push(async () => {
      secure.closeAllConnections()
      secure.close()
    })
    const { origin, server: http } = await proxy()
    const tunnels: string[] = []
    http.on('connect', (request, socket) => {
      tunnels.push(request.url ?? '')
      const onward = connect((secure.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.pipe(socket).pipe(onward)
      })
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
    })
    const trusting = client({ proxy: origin, ca: fixture('ca.pem') })
    const response = await trusting.request({ url: 'https://mirror.example/f' })
    expect(await text(response)).toBe('secure')
    expect(tunnels).toEqual(['mirror.example:443'])
    await expect(
      client({ proxy: origin }).request({ url: 'https://mirror.example/f' }),
    ).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringContaining('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    })
  })
})

describe('a private CA', () => {
  it('is trusted besides the system’s', async () => {
    const secure = createTlsServer(
      { cert: fixture('server.pem'), key: fixture('server.key') },
      (_request, response) => response.end('secure'),
    )
    secure.listen(0, '127.0.0.1')
    await once(secure, 'listening')
    closers.push(async () => {
      secure.closeAllConnections()
      secure.close()
    })
    const origin = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
    const trusting = client({ allowedOrigins: [origin], ca: fixture('ca.pem') })
    expect(await text(await trusting.request({ url: origin }))).toBe('secure')
    await expect(client({ allowedOrigins: [origin] }).request({ url: origin })).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
    })
  })
})
