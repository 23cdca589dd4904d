import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { AdminAccess } from '../../../src/http/admin/access.ts'
import { type AdminApp, createAdminApp } from '../../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../../src/telemetry/create-metrics.ts'
import { createFakeOperations, type FakeAnswers, writeVerbs } from '../../fakes/admin-operations.ts'
import { fakeSecrets } from '../../fakes/fleet-operations.ts'
import { createManualTime } from '../../fakes/manual-time.ts'
import { createRecordingLog } from '../../fakes/recording-log.ts'

const opened: AdminApp[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

const loopback: AdminAccess = { host: '127.0.0.1' }

function createTestApp(access: AdminAccess = loopback, answers: FakeAnswers = {}) {
  const operations = createFakeOperations(answers)
  const log = createRecordingLog()
  const metrics = createMetrics({ version: '1.2.3', clock: { now: () => 0 }, withProcess: false })
  const app = createAdminApp({
    operations,
    metrics,
    log,
    version: '1.2.3',
    clock: { now: () => 0 },
    timers: createManualTime(),
    access,
  })
  opened.push(app)
  const headers = { host: '127.0.0.1:8081', authorization: `Bearer ${fakeSecrets.write}` }
  const get = (url: string, host = headers.host) =>
    app.inject({ method: 'GET', url, headers: { ...headers, host } })
  const post = (url: string, body?: object) =>
    app.inject({ method: 'POST', url, headers, ...(body && { payload: body }) })
  return { app, operations, log, metrics, get, post }
}

describe('health', () => {
  test('livez answers without asking anybody', async () => {
    const { get, operations } = createTestApp()
    const answer = await get('/livez?verbose')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ alive: true, version: '1.2.3' })
    expect(operations.calls).toEqual([])
  })

  test('G4 a dead upstream with a good cache is ready, and the reason is told', async () => {
    const parts = [
      { part: 'boot-http', ready: true },
      {
        part: 'stream:fcos-stable',
        ready: true,
        reason: 'upstream failing since 2026-11-28T09:00:00Z; serving 44',
      },
    ]
    const { get } = createTestApp(loopback, { readiness: async () => ({ ready: true, parts }) })
    const answer = await get('/readyz')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ready: true, parts })
  })

  test('a part that is not ready makes 503 and says which and why', async () => {
    const parts = [{ part: 'state', ready: false, reason: 'the state store does not answer' }]
    const { get } = createTestApp(loopback, { readiness: async () => ({ ready: false, parts }) })
    const answer = await get('/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ ready: false, parts })
  })

  test('readiness that cannot be told is not ready, and the fault is logged', async () => {
    const { get, log } = createTestApp(loopback, {
      readiness: () => Promise.reject(new Error('secret path')),
    })
    const answer = await get('/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ ready: false, parts: [{ part: 'service', ready: false }] })
    expect(answer.body).not.toContain('secret path')
    expect(log.lines).toMatchObject([{ level: 'error', message: 'readiness could not be told' }])
  })
})

test('metrics are text in the format of Prometheus and count the requests of this listener', async () => {
  const { get } = createTestApp()
  await get('/livez')
  await get('/nonsense')
  const answer = await get('/metrics')
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(answer.body).toContain(
    'pilotlight_http_request_duration_seconds_count{route="/livez",method="GET",status="200"} 1',
  )
  expect(answer.body).toContain('{route="admin:unmatched",method="GET",status="404"} 1')
  expect(answer.body).toContain('{route="/api/v1/explain",method="GET",status="200"} 0')
  expect(answer.body).not.toContain('nonsense')
})

describe('the API', () => {
  test('loaders answers with what is served, missing and refused, and the Secure Boot sets', async () => {
    const { get } = createTestApp(loopback)
    const report = (await get('/api/v1/loaders')).json()
    expect(Object.keys(report)).toEqual(['loaders', 'refused', 'missing', 'sets'])
    expect(report.loaders[1]).toMatchObject({ name: 'snponly.efi', features: ['http', 'https', 'vlan'] })
    expect((await get('/api/v1/loaders?name=x')).statusCode).toBe(400)
  })

  test('streams and bootimages answer with a named list', async () => {
    const { get, operations } = createTestApp()
    expect((await get('/api/v1/streams')).json().streams[0].name).toBe('fcos-stable')
    const answer = await get('/api/v1/bootimages?stream=fcos-stable&arch=amd64')
    expect(answer.json().bootimages[0].release).toBe('44.20261101.3.0')
    expect(operations.calls.at(-1)).toEqual({
      name: 'bootimages',
      argument: { stream: 'fcos-stable', arch: 'x86_64' },
    })
  })

  test('field case 147: state and progress of a set that is being fetched are shown', async () => {
    const fetching = { state: 'downloading', doneBytes: 10, totalBytes: 100, bytesPerSecond: 5 }
    const { get } = createTestApp(loopback, { bootimages: async () => [fetching as never] })
    expect((await get('/api/v1/bootimages')).json().bootimages).toEqual([fetching])
  })

  test('G10 explain passes on what the machine says and answers with reasons and origins', async () => {
    const { get, operations } = createTestApp()
    const answer = await get('/api/v1/explain?mac=52-54-00-AB-CD-EF&arch=x86_64&platform=efi')
    expect(answer.json()).toMatchObject({
      decision: 'live',
      reasons: [{ code: 'follows-current' }, { code: 'host-matched-by-mac' }],
      values: [{ field: 'stream', value: 'fcos-stable', origin: 'profile worker (pilotlight.yaml:12)' }],
    })
    expect(operations.calls).toEqual([
      { name: 'explain', argument: { mac: '52-54-00-AB-CD-EF', arch: 'x86_64', platform: 'efi' } },
    ])
  })

  test.each([
    ['/api/v1/streams?x=1', { field: 'x', hint: 'there are no parameters here' }],
    ['/api/v1/bootimages?strem=a', { field: 'strem', hint: 'did you mean "stream"? allowed: stream, arch' }],
    [
      '/api/v1/explain?mac=a&asset=b',
      { field: 'asset', hint: 'allowed: mac, uuid, serial, host, arch, platform' },
    ],
    ['/api/v1/bootimages?arch=mips', { field: 'arch', hint: 'allowed: x86_64, aarch64, ppc64le, s390x' }],
    ['/api/v1/explain?platform=coreboot', { field: 'platform', hint: 'allowed: pcbios, efi' }],
    ['/api/v1/explain?mac=a&mac=b', { field: 'mac' }],
    ['/api/v1/explain?mac=', { field: 'mac' }],
    [`/api/v1/explain?serial=${'x'.repeat(300)}`, { field: 'serial' }],
  ])('field case 126: %s is refused with what is allowed', async (url, expected) => {
    const { get, operations } = createTestApp()
    const answer = await get(url)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'USAGE', ...expected })
    expect(answer.json().message).toMatch(/\w/)
    expect(operations.calls).toEqual([])
  })

  test('a known error keeps its code, message, field and hint', async () => {
    const { get, log } = createTestApp(loopback, {
      explain: () =>
        Promise.reject(
          new ServiceError('USAGE', 'this is no MAC', { field: 'mac', hint: 'write 52:54:00:…' }),
        ),
    })
    const answer = await get('/api/v1/explain?mac=x')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      code: 'USAGE',
      message: 'this is no MAC',
      field: 'mac',
      hint: 'write 52:54:00:…',
    })
    expect(log.lines.map(({ level }) => level)).toEqual(['debug'])
  })

  test('an unexpected error says nothing about the inside and is logged with its cause', async () => {
    const { get, log } = createTestApp(loopback, {
      streams: () => Promise.reject(new Error('SQLITE_CORRUPT at /var/lib/secret')),
    })
    const answer = await get('/api/v1/streams')
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toEqual({
      code: 'INTERNAL',
      message: 'something unexpected went wrong inside',
      hint: 'the service log has the details',
    })
    expect(log.lines).toMatchObject([{ level: 'error', message: 'admin request failed' }])
  })
})

describe('what does not exist', () => {
  test('an unknown URL is answered with what there is', async () => {
    const { get } = createTestApp()
    const answer = await get('/api/v2/hosts')
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toEqual({
      code: 'NOT_FOUND',
      message: 'there is no such URL',
      hint: 'there are /livez, /readyz, /metrics and what /api/v1/docs tells',
    })
  })

  test('a known URL with another verb says which verbs it has', async () => {
    const { post } = createTestApp()
    const answer = await post('/api/v1/streams')
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toBe('GET, HEAD')
    expect(answer.json()).toMatchObject({ code: 'USAGE', hint: 'allowed: GET, HEAD' })
  })

  test.each(['/%', '/api/v1/%ff', '/%zz'])('an unreadable URL %s has the same error shape', async (url) => {
    const { get } = createTestApp()
    const answer = await get(url)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('not a valid url'),
    })
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })
})

test.each([
  ['the admin listener', loopback],
  ['the control socket', 'control'],
  ['another address', { host: '0.0.0.0' }],
] as const)('field case 161: a crawl of every GET route on %s changes nothing', async (_, access) => {
  const { app, get, operations } = createTestApp(access)
  await app.ready()
  const { paths = {} } = app.swagger()
  const urls = Object.keys(paths)
    // Its answer has no end; what it does is looked at in events-route.test.ts.
    .filter((path) => path !== '/api/v1/events')
    .map((path) => path.replaceAll(/\{\w+\}/g, 'x'))
  expect(urls.length).toBeGreaterThan(30)
  for (const url of urls) await get(url)
  expect(operations.calls.filter(({ name }) => writeVerbs.has(name))).toEqual([])
  const asked = operations.fleet.calls.map(({ name }) => name)
  expect(asked.filter((name) => !/^(list|show|pinnable|export)/.test(name))).toEqual([])
})

describe('who may ask', () => {
  test.each(['localhost:8081', '127.0.0.1', '[::1]:8081', 'LOCALHOST'])('Host %s is ours', async (host) => {
    const { get } = createTestApp()
    expect((await get('/api/v1/streams', host)).statusCode).toBe(200)
  })

  test.each(['evil.example', 'localhost.evil.example', '192.0.2.1:8081', '127.0.0.1:8081@evil', 'a:b:c'])(
    'Host %j is refused everywhere on loopback (DNS rebinding)',
    async (host) => {
      const { get, operations } = createTestApp()
      for (const url of ['/api/v1/streams', '/metrics', '/readyz', '/nonsense']) {
        const answer = await get(url, host)
        expect(answer.statusCode).toBe(403)
        expect(answer.json()).toMatchObject({ code: 'FORBIDDEN', field: 'host' })
      }
      expect(operations.calls).toEqual([])
    },
  )

  test('another loopback address accepts its own name', async () => {
    const { get } = createTestApp({ host: '127.0.0.53' })
    expect((await get('/livez', '127.0.0.53:9000')).statusCode).toBe(200)
  })
})

describe('the control socket', () => {
  test.each([
    ['sync', { streams: ['fcos-stable'] }, 'sync'],
    ['sync', {}, 'sync'],
    ['verify', {}, 'verify'],
    ['gc', { dryRun: true }, 'gc'],
    ['reload', {}, 'reload'],
    ['webhooks/ops/test', {}, 'testWebhook'],
    ['import', { stream: 'a', name: 'b.json', text: '{}' }, 'importDocument'],
    ['render', { mac: '52:54:00:ab:cd:ef', dialect: 'ipxe', template: 'install' }, 'render'],
  ] as const)('POST %s %j is done once', async (verb, body, name) => {
    const { post, operations } = createTestApp('control')
    const answer = await post(`/api/v1/${verb}`, body)
    expect(answer.statusCode).toBe(200)
    expect(operations.calls.map((call) => call.name)).toEqual([name])
    if (Object.keys(body).length > 0) expect(operations.calls[0]?.argument).toEqual(body)
  })

  test.each([
    ['gc', { dryrun: true }, { field: 'dryrun', hint: expect.stringContaining('dryRun') }],
    ['gc', { dryRun: 'yes' }, { field: 'dryRun' }],
    ['gc', { dryRun: true, force: true }, { field: 'force', hint: 'allowed: dryRun' }],
    ['import', { stream: 'a', name: 'b' }, { field: 'text' }],
    ['render', { dialect: 'lilo' }, { field: 'dialect', hint: 'allowed: ipxe, grub, pxelinux' }],
    ['sync', { streams: [1] }, { field: 'streams.0' }],
  ])('POST %s %j is refused and does nothing', async (verb, body, expected) => {
    const { post, operations } = createTestApp('control')
    const answer = await post(`/api/v1/${verb}`, body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'USAGE', ...expected })
    expect(operations.calls).toEqual([])
  })

  test('a body beyond the bound is refused', async () => {
    const { post, operations } = createTestApp('control')
    const answer = await post('/api/v1/sync', { streams: ['x'.repeat(70_000)] })
    expect(answer.statusCode).toBe(413)
    expect(answer.json()).toMatchObject({ code: 'USAGE' })
    expect(operations.calls).toEqual([])
  })

  test('a large real document fits into an import', async () => {
    const { post, operations } = createTestApp('control')
    const text = '"'.repeat(3_000_000)
    expect((await post('/api/v1/import', { stream: 'a', name: 'b', text })).statusCode).toBe(200)
    expect(operations.calls).toHaveLength(1)
  })
})

test('every answer carries the security headers, errors too', async () => {
  const { get } = createTestApp()
  for (const answer of [await get('/livez'), await get('/nothing'), await get('/livez', 'evil.example')]) {
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  }
})

test('bytes that are not HTTP get the same error shape', async () => {
  const { app } = createTestApp()
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('\x16\x03\x01 this is TLS\r\n\r\n'))
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
  expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(text).toContain('x-content-type-options: nosniff')
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({
    code: 'USAGE',
    message: 'this is not a readable HTTP request',
  })
})
