import { afterEach, describe, expect, test } from 'vitest'
import { type AdminAppSetup, createFakeAdminApp } from '../../fakes/admin-app.ts'
import { fakeSecrets } from '../../fakes/fleet-operations.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

function createApp(setup: AdminAppSetup = {}) {
  const made = createFakeAdminApp(setup)
  opened.push(made.app)
  const from = (address: string, authorization: string | undefined, more: Record<string, string> = {}) =>
    made.app.inject({
      method: 'GET',
      url: '/api/v1/hosts',
      remoteAddress: address,
      headers: { host: 'localhost', ...(authorization !== undefined && { authorization }), ...more },
    })
  return { ...made, from }
}

const wrong = `Bearer plt_000000000000_${'x'.repeat(43)}`
const right = `Bearer ${fakeSecrets.read}`

describe('the API asks for a credential', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['0.0.0.0', 'every address'],
  ])('listening on %s (%s): without a token 401 and how to make one', async (host) => {
    const { ask, fleet } = createApp({ access: { host } })
    for (const [method, url] of [
      ['GET', '/api/v1/streams'],
      ['GET', '/api/v1/hosts'],
      ['PUT', '/api/v1/pins'],
      ['DELETE', '/api/v1/hosts/a'],
      ['POST', '/api/v1/sync'],
    ] as const) {
      const answer = await ask(method, url, { headers: { authorization: '' } })
      expect([url, answer.statusCode]).toEqual([url, 401])
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="pilotlight"')
      expect(answer.json()).toEqual({
        code: 'UNAUTHENTICATED',
        message: 'the API needs a token',
        hint: expect.stringContaining('pilotlight token create'),
      })
    }
    expect(fleet.calls).toEqual([])
  })

  test.each([
    'Basic cm9vdDpyb290',
    'Bearer',
    'Bearer a b',
    `Bearer ${'x'.repeat(600)}`,
    `bearer${fakeSecrets.write}`,
    fakeSecrets.write,
    'Bearer \u00e9',
  ])('%j is no credential', async (authorization) => {
    const { ask } = createApp()
    expect((await ask('GET', '/api/v1/hosts', { headers: { authorization } })).statusCode).toBe(401)
  })

  test('a token in the URL or in a cookie is not looked at', async () => {
    const { ask } = createApp()
    const answer = await ask('GET', `/api/v1/hosts?token=${fakeSecrets.write}`, {
      headers: { authorization: '', cookie: `token=${fakeSecrets.write}` },
    })
    expect(answer.statusCode).toBe(401)
  })

  test('a wrong one says so, and nothing of it is told or logged', async () => {
    const { from, log } = createApp()
    const answer = await from('192.0.2.1', wrong)
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="pilotlight", error="invalid_token"')
    expect(log.lines[0]).toMatchObject({ level: 'warn', message: 'API login refused' })
    expect(JSON.stringify([answer.json(), log.lines])).not.toContain('plt_')
  })

  test('the scheme is read in any letter case', async () => {
    const { from } = createApp()
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      expect((await from('192.0.2.1', `${scheme} ${fakeSecrets.read}`)).statusCode).toBe(200)
    }
  })

  test('read may ask and not change; exporting holds secrets, so it needs write', async () => {
    const { ask, fleet } = createApp()
    const headers = { authorization: right }
    expect((await ask('GET', '/api/v1/hosts', { headers })).statusCode).toBe(200)
    const asked = fleet.calls.length
    for (const [method, url] of [
      ['PUT', '/api/v1/pins'],
      ['POST', '/api/v1/render'],
      ['DELETE', '/api/v1/pins/host/a'],
      ['GET', '/api/v1/records/export'],
    ] as const) {
      const answer = await ask(method, url, { headers })
      expect([url, answer.statusCode]).toEqual([url, 403])
      expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"')
      expect(answer.json()).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(fleet.calls.length).toBe(asked)
  })

  test('who asks is handed on with the change', async () => {
    const { ask, fleet } = createApp()
    await ask('DELETE', '/api/v1/hosts/a?reason=gone')
    expect(fleet.calls).toEqual([
      {
        name: 'removeHost',
        arguments: ['a', { actor: { by: 'token my-write', via: 'api' }, reason: 'gone' }],
      },
    ])
  })

  test('health, figures and the description of the API are open', async () => {
    const { app } = createApp()
    for (const url of [
      '/livez',
      '/readyz',
      '/metrics',
      '/api/v1/openapi.json',
      '/api/v1/docs',
      '/api/v1/docs.css',
    ]) {
      const answer = await app.inject({ url, headers: { host: 'localhost' } })
      expect([url, answer.statusCode]).toEqual([url, 200])
    }
  })

  test('the body of a stranger is not read', async () => {
    const { ask } = createApp()
    const answer = await ask('POST', '/api/v1/records/import', {
      headers: { authorization: wrong, 'content-type': 'application/json' },
      body: `{"text":"${'x'.repeat(200_000)}`,
    })
    expect(answer.statusCode).toBe(401)
  })
})

describe('failed logins are bounded', () => {
  test('after ten the address waits, others do not, and both are counted and logged once', async () => {
    let now = 0
    const { from, log, metrics } = createApp({ now: () => now })
    const statuses: number[] = []
    for (let time = 0; time < 15; time += 1) statuses.push((await from('192.0.2.1', wrong)).statusCode)
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    const limited = await from('192.0.2.1', right)
    expect(limited.statusCode).toBe(429)
    expect(limited.headers['retry-after']).toBe('6')
    expect(limited.json()).toMatchObject({ code: 'RATE_LIMITED', hint: 'wait 6 seconds' })
    expect((await from('192.0.2.2', right)).statusCode).toBe(200)
    expect(log.lines.filter(({ message }) => message === 'API login refused')).toHaveLength(1)
    const text = await metrics.text()
    expect(text).toContain('pilotlight_admin_refused_logins_total{reason="invalid"} 10')
    expect(text).toContain('pilotlight_admin_refused_logins_total{reason="limited"} 6')
    now += 60_000
    expect((await from('192.0.2.1', wrong)).statusCode).toBe(401)
    expect(log.lines.filter(({ message }) => message === 'API login refused')).toMatchObject([
      {},
      { fields: { suppressed: 15 } },
    ])
  })

  test('requests without any token are no attempts', async () => {
    const { from } = createApp()
    for (let time = 0; time < 30; time += 1) {
      expect((await from('192.0.2.1', undefined)).statusCode).toBe(401)
    }
    expect((await from('192.0.2.1', right)).statusCode).toBe(200)
  })

  test('whoever logged in well goes on, whatever a neighbour on the same address does', async () => {
    const { from } = createApp()
    expect((await from('192.0.2.1', right)).statusCode).toBe(200)
    for (let time = 0; time < 15; time += 1) await from('192.0.2.1', wrong)
    expect((await from('192.0.2.1', right)).statusCode).toBe(200)
  })
})

describe('proxies', () => {
  const proxied = { access: { host: '0.0.0.0', trustedProxies: ['10.0.0.0/8'] } }
  const failMany = async (from: ReturnType<typeof createApp>['from'], address: string, forwarded: string) => {
    for (let time = 0; time < 12; time += 1) await from(address, wrong, { 'x-forwarded-for': forwarded })
  }

  test('one that is trusted tells the client, so clients behind it do not lock each other out', async () => {
    const { from } = createApp(proxied)
    await failMany(from, '10.0.0.1', '203.0.113.1')
    expect((await from('10.0.0.1', right, { 'x-forwarded-for': '203.0.113.2' })).statusCode).toBe(200)
    expect((await from('10.0.0.1', right, { 'x-forwarded-for': '203.0.113.1' })).statusCode).toBe(429)
  })

  test('from anybody else X-Forwarded-For is just text: it neither helps nor blames others', async () => {
    const { from } = createApp(proxied)
    for (let time = 0; time < 12; time += 1) {
      await from('192.0.2.1', wrong, { 'x-forwarded-for': `203.0.113.${time}` })
    }
    expect((await from('192.0.2.1', right, { 'x-forwarded-for': '203.0.113.99' })).statusCode).toBe(429)
    expect((await from('10.0.0.1', right, { 'x-forwarded-for': '203.0.113.1' })).statusCode).toBe(200)
  })

  test('what a client put in front of the proxy does not count', async () => {
    const { from } = createApp(proxied)
    for (let time = 0; time < 12; time += 1) {
      await from('10.0.0.1', wrong, { 'x-forwarded-for': `198.51.100.${time}, 203.0.113.1` })
    }
    const answer = await from('10.0.0.1', right, { 'x-forwarded-for': '198.51.100.77, 203.0.113.1' })
    expect(answer.statusCode).toBe(429)
  })

  test('behind a trusted proxy on this machine the name is that of the proxy, else it must be ours', async () => {
    const { from } = createApp({ access: { host: '127.0.0.1', trustedProxies: ['127.0.0.1'] } })
    const named = { host: 'pilotlight.example' }
    expect((await from('127.0.0.1', right, named)).statusCode).toBe(403)
    const forwarded = { ...named, 'x-forwarded-for': '203.0.113.1' }
    expect((await from('127.0.0.1', right, forwarded)).statusCode).toBe(200)
    expect((await createApp().from('127.0.0.1', right, forwarded)).statusCode).toBe(403)
  })

  test('nonsense in the header of a trusted proxy is laid at the door of the proxy', async () => {
    const { from, log } = createApp(proxied)
    await from('10.0.0.1', wrong, { 'x-forwarded-for': '<script>alert(1)</script>' })
    expect(log.lines[0]).toMatchObject({ fields: { address: '10.0.0.1' } })
  })
})

describe('the control socket', () => {
  test.each([
    ['alice', 'alice'],
    ['j%C3%BCrgen', 'jürgen'],
    ['', 'control socket'],
    ['%ff', 'control socket'],
    ['a%0ab', 'control socket'],
    ['%E2%80%AEa', 'control socket'],
    ['x'.repeat(65), 'control socket'],
  ])('user %j is recorded as %j', async (header, by) => {
    const { ask, fleet } = createApp({ access: 'control' })
    const headers = { authorization: '', 'pilotlight-user': header }
    expect((await ask('DELETE', '/api/v1/hosts/a', { headers })).statusCode).toBe(204)
    expect(fleet.calls[0]?.arguments[1]).toEqual({ actor: { by, via: 'control' } })
  })

  test('over TCP that header means nothing', async () => {
    const { ask, fleet } = createApp()
    await ask('DELETE', '/api/v1/hosts/a', { headers: { 'pilotlight-user': 'root' } })
    expect(fleet.calls[0]?.arguments[1]).toMatchObject({ actor: { via: 'api', by: 'token my-write' } })
  })
})
