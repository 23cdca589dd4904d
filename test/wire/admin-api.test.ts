import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:tls'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminCertificate } from '../fakes/certificates.ts'
import {
  askControl,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'
import { type ApiDocument, adminRequests, injections } from '../fuzz/admin-requests.ts'

const release = '44.20260601.3.0'
const sizes = { kernelBytes: 8 << 10, initramfsBytes: 8 << 10, rootfsBytes: 16 << 10 }
const isSoak = process.env.SOAK === '1'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint
  json(): any
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One request over TCP, whose answer has ten seconds. */
function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? httpsRequest : httpRequest
    const options = { method, headers, rejectUnauthorized: false, timeout: 10_000 }
    const request = start(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => JSON.parse(text),
        }),
      )
    })
    request.on('timeout', () => request.destroy(new Error(`${method} ${url} hangs`)))
    request.on('error', reject)
    request.end(body)
  })
}

let site: UpstreamSite
let service: RunningService
let token: string

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [release], sizes })
  service = await startRunningService({ site })
  await untilCurrent(service, release)
  const created = await askControl<{ secret: string }>(socketOf(service), 'POST', '/api/v1/tokens', {
    name: 'tests',
    role: 'write',
  })
  token = created.secret
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

const socketOf = ({ dataDirectory }: RunningService) => `${dataDirectory}/control.sock`

function api(method: string, path: string, body?: object): Promise<Answer> {
  return send(`${service.adminUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

describe('the API of the running service', () => {
  it('knows its tokens, and forgets them when they are revoked', async () => {
    // A token that leaked makes no other: that is for who is on the machine.
    expect((await api('POST', '/tokens', { name: 'more', role: 'write' })).status).toBe(405)
    const { secret, token: record } = await askControl<{ secret: string; token: { id: string } }>(
      socketOf(service),
      'POST',
      '/api/v1/tokens',
      { name: 'short', role: 'read' },
    )
    const ask = () =>
      send(`${service.adminUrl}/api/v1/hosts`, { headers: { authorization: `Bearer ${secret}` } })
    expect((await ask()).status).toBe(200)
    expect((await api('DELETE', `/tokens/${record.id}?reason=done`)).status).toBe(200)
    expect((await ask()).status).toBe(401)
    const audit = await api('GET', '/audit?action=token.revoke')
    expect(audit.json().items[0]).toMatchObject({ by: 'token tests', via: 'api', reason: 'done' })
    expect(JSON.stringify(service.log()) + audit.text).not.toContain(secret)
  })

  it('a record is made once, changed by who has seen it, and a dry run changes nothing', async () => {
    const body = { spec: { macs: ['52:54:00:00:10:01'], profile: 'worker' } }
    const put = (headers: Record<string, string>, path = '/hosts/once') =>
      send(`${service.adminUrl}/api/v1${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    expect((await put({ 'if-none-match': '*' }, '/hosts/once?dryRun=true')).status).toBe(200)
    expect((await api('GET', '/hosts/once')).status).toBe(404)
    const first = await put({ 'if-none-match': '*' })
    expect([first.status, first.headers.etag]).toEqual([200, expect.stringMatching(/^"\d+"$/)])
    expect((await put({ 'if-none-match': '*' })).json()).toMatchObject({ code: 'REVISION_DIFFERS' })
    expect((await put({ 'if-match': '"999999"' })).status).toBe(412)
    expect((await put({ 'if-match': String(first.headers.etag) })).status).toBe(200)
    expect((await api('DELETE', '/hosts/once')).status).toBe(204)
  })

  it('what it answers is what its document says', async () => {
    await api('PUT', '/hosts/said', { spec: { macs: ['52:54:00:00:10:02'], profile: 'worker' } })
    await api('PUT', '/groups/said', { spec: { match: { labels: { a: 'b' } }, mode: 'live' } })
    await api('PUT', '/pins', { target: { kind: 'host', name: 'said' }, release, reason: 'test' })
    await service.boot({ mac: '52:54:00:00:10:02' })
    await service.boot({ mac: '52:54:00:00:10:03' })
    const document = (await send(`${service.adminUrl}/api/v1/openapi.json`)).json()
    const ajv = new Ajv({ strict: false, allErrors: true })
    const answerOf = (path: string) => document.paths[path].get?.responses['200'].content['application/json']
    // The figures are no JSON, and the events have no end.
    const paths = Object.keys(document.paths).filter((path) => answerOf(path) !== undefined)
    const names: Readonly<Record<string, string>> = {
      '{id}': 'said',
      '{name}': 'said',
      '{mac}': '52:54:00:00:10:02',
    }
    const wrong: unknown[] = []
    const seen: string[] = []
    for (const path of paths) {
      let url = path.replace(/\{\w+\}/, (name) => names[name] ?? name)
      if (path.endsWith('/profiles/{name}')) url = '/api/v1/profiles/worker'
      if (path.endsWith('/explain')) url += '?host=said'
      const answer = await send(`${service.adminUrl}${url}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const isFine = ajv.validate(answerOf(path).schema, answer.json())
      if (answer.status !== 200 || !isFine) wrong.push([url, answer.status, ajv.errors])
      seen.push(path)
    }
    expect(wrong).toEqual([])
    expect(seen.length).toBeGreaterThan(20)
  })

  it('field cases 117 to 119: whatever an admin or a tool writes, no script gets another command', async () => {
    const mac = '52:54:00:00:10:04'
    await api('PUT', '/hosts/inject', { spec: { macs: [mac], profile: 'worker' } })
    const commandsOf = (script: string) =>
      script
        .split('\n')
        .flatMap((line) => line.split(/ (?:\|\||&&) /))
        .map((command) => command.trim().split(' ', 1)[0])
    const holdWith = async (reason: string) =>
      api('PUT', '/modes', { target: { kind: 'host', name: 'inject' }, mode: 'hold', reason })
    await holdWith('clean')
    const clean = commandsOf(await service.script(mac))
    const taken: string[] = []
    for (const text of injections) {
      const answer = await holdWith(text)
      expect([200, 204, 400]).toContain(answer.status)
      if (answer.status < 300) {
        taken.push(text)
        expect([text, commandsOf(await service.script(mac))]).toEqual([text, clean])
      }
      for (const spec of [
        { labels: { site: text } },
        { kernelArguments: [text] },
        { holdReason: text, mode: 'hold' },
        { hostName: text },
        { serial: text },
        { ignition: { url: text } },
        { pin: { release: text } },
        { stream: text },
      ]) {
        const put = await api('PUT', '/hosts/inject2', {
          spec: { profile: 'worker', macs: ['52:54:00:00:10:05'], ...spec },
        })
        expect([text, spec, [200, 400].includes(put.status)]).toEqual([text, spec, true])
        const script = await service.script('52:54:00:00:10:05')
        expect(script).toMatch(/^#!ipxe\n/)
        expect(script.split('\n').filter((line) => /^\s*(?:shell|reboot|id)\b/.test(line))).toEqual([])
        expect(script).not.toMatch(/\$\{cwduri\}|root:x:/)
      }
    }
    expect(taken.length).toBeGreaterThan(3)
  }, 120_000)

  it('requests made from its document never get 5xx and never hang, and it serves machines afterwards', async () => {
    const document = (await send(`${service.adminUrl}/api/v1/openapi.json`)).json() as ApiDocument
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(adminRequests(document), async ({ method, url, headers, body }) => {
        const { status } = await send(`${service.adminUrl}${url}`, {
          method,
          headers: { ...headers, authorization: `Bearer ${token}` },
          ...(body !== undefined && { body }),
        })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect([method, url, body, status < 500]).toEqual([method, url, body, true])
      }),
      { numRuns: isSoak ? 20_000 : 1_500, endOnFailure: true },
    )
    expect(statuses.get(200) ?? 0).toBeGreaterThan(50)
    expect((await service.readiness()).status).toBe(200)
    await api('DELETE', '/modes/host/said')
    expect((await service.boot({ mac: '52:54:00:00:10:99' })).fetches.length).toBeGreaterThan(2)
    expect(service.log().filter(({ msg }) => msg === 'admin request failed')).toEqual([])
  }, 600_000)
})

describe('a proxy before the running service', () => {
  it('one that is configured tells clients apart, and nobody else does', async () => {
    const behind = await startRunningService({
      config: { streams: {}, admin: { listen: '127.0.0.1:0', trustedProxies: ['127.0.0.1'] } },
    })
    try {
      const wrong = (url: string, client: string) =>
        send(`${url}/api/v1/hosts`, {
          headers: { authorization: `Bearer plt_000000000000_${'x'.repeat(43)}`, 'x-forwarded-for': client },
        })
      const statuses = async (url: string) => {
        for (let time = 0; time < 10; time += 1) await wrong(url, '203.0.113.1')
        return [(await wrong(url, '203.0.113.1')).status, (await wrong(url, '203.0.113.2')).status]
      }
      expect(await statuses(behind.adminUrl)).toEqual([429, 401])
      expect(await statuses(service.adminUrl)).toEqual([429, 429])
      const refused = () => behind.log().filter(({ msg }) => msg === 'API login refused')
      await eventually(
        async () => refused().map(({ address }) => address),
        (addresses) => addresses.length === 2,
      )
      expect(refused().map(({ address }) => address)).toEqual(['203.0.113.1', '203.0.113.2'])
    } finally {
      await behind.remove()
    }
  })
})

describe('TLS of the running service', () => {
  it('renewed files are taken over, and open connections go on', async () => {
    const first = adminCertificate('first')
    const second = adminCertificate('second')
    const secure = await startRunningService({
      config: {
        streams: {},
        admin: {
          listen: '127.0.0.1:0',
          tls: { certificate: first.certificateFile, key: first.keyFile },
        },
      },
    })
    try {
      expect(secure.adminUrl).toMatch(/^https:/)
      expect((await send(`${secure.adminUrl}/livez`)).status).toBe(200)
      expect(await subjectOf(secure.adminUrl)).toBe('first')
      await secure.writeConfig({
        admin: {
          listen: '127.0.0.1:0',
          tls: { certificate: second.certificateFile, key: second.keyFile },
        },
      })
      await eventually(
        () => subjectOf(secure.adminUrl),
        (subject) => subject === 'second',
      )
      expect((await send(`${secure.adminUrl}/livez`)).status).toBe(200)
      await secure.write('bad.key', readFileSync(first.keyFile, 'utf8'))
      await secure.writeConfig({
        admin: { listen: '127.0.0.1:0', tls: { certificate: second.certificateFile, key: 'bad.key' } },
      })
      const reloaded = await secure.control<{ error?: string }>('/api/v1/reload')
      expect(reloaded.error).toMatch(
        /admin\.tls\.key: certificate and key cannot be used together: key values mismatch/,
      )
      expect(await subjectOf(secure.adminUrl)).toBe('second')
      expect(JSON.stringify(secure.log())).not.toContain('PRIVATE KEY')
    } finally {
      await secure.remove()
    }
  })
})

function subjectOf(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false })
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().subject.CN)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}
