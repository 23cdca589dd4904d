import { afterEach, describe, expect, test } from 'vitest'
import { ServiceError } from '../../../../src/core/errors.ts'
import type { FleetOperations } from '../../../../src/http/admin/fleet-operations.ts'
import { createMixedFleet, morning } from '../../../browser/mixed-fleet.ts'
import { createPageApp, type PageApp } from '../../../browser/page-app.ts'
import type { FakeAnswers } from '../../../fakes/admin-operations.ts'
import { fakeSecrets, sampleGroup, sampleHost, sampleInstall } from '../../../fakes/fleet-operations.ts'

const opened: PageApp[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ app }) => app.close()))
})

const origin = 'http://127.0.0.1:8081'
const formType = 'application/x-www-form-urlencoded'
const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString()

interface Headers {
  readonly [name: string]: string
}

function setUp(answers: FakeAnswers = createMixedFleet().answers) {
  let now = morning
  const page = createPageApp({ answers, now: () => now })
  opened.push(page)
  const { app } = page
  const host = '127.0.0.1:8081'
  const get = (url: string, headers: Headers = {}) => app.inject({ url, headers: { host, ...headers } })
  const post = (url: string, fields: Readonly<Record<string, string>>, headers: Headers = {}) =>
    app.inject({
      method: 'POST',
      url,
      headers: { host, origin, 'content-type': formType, ...headers },
      payload: form(fields),
    })
  async function logIn(role: 'read' | 'write') {
    const answer = await post('/login', { token: fakeSecrets[role] })
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    const start = await get('/', { cookie })
    const formToken = /name="form" value="([^"]+)"/.exec(start.body)?.[1] ?? ''
    return {
      cookie,
      formToken,
      get: (url: string, headers: Headers = {}) => get(url, { cookie, ...headers }),
      post: (url: string, fields: Readonly<Record<string, string>>, headers: Headers = {}) =>
        post(url, { form: formToken, ...fields }, { cookie, ...headers }),
    }
  }
  const changes = () =>
    page.operations.fleet.calls.filter(({ name }) => /^(set|remove|arm|end|release|adopt)/.test(name))
  return { ...page, get, post, logIn, changes, pass: (ms: number) => (now += ms) }
}

const views = [
  '/',
  '/?state=stuck&search=rack1&stream=fcos-stable&release=x&group=core&sort=host&page=2',
  '/rows?keys=rack1-n01&keys=rack1-n04',
  '/boots',
  '/boots?state=over&outcome=booted&pattern=no-report&host=a&mac=b',
  '/boots/0mh9xk2r0000003',
  '/hosts/rack1-n01',
  '/hosts/rack1-n04',
  '/machines/3c:ec:ef:10:2a:4e',
  '/streams',
  '/events',
  '/events?target=host/rack1-n07&by=root&action=pin.set&since=48h',
  '/doctor',
]
const forms = [
  ...['pin', 'unpin', 'install', 'installed', 'disarm', 'local', 'live', 'hold', 'release'].map(
    (name) => `/hosts/rack1-n04/${name}`,
  ),
  '/machines/3c:ec:ef:10:2a:4e/adopt',
]

describe('who is let in', () => {
  test.each([...views, ...forms])('%s without a session leads to the login and back', async (url) => {
    const { get, operations } = setUp()
    const answer = await get(url)
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe(
      url === '/' ? '/login' : `/login?${new URLSearchParams({ next: url })}`,
    )
    expect([...operations.boots.calls, ...operations.fleet.calls, ...operations.calls]).toEqual([])
  })

  test.each(['/live', '/rows?keys=a'])(
    '%s, which a script asks for, is 401 without a session',
    async (url) => {
      const answer = await setUp().get(url, { 'pilotlight-part': '1' })
      expect(answer.statusCode).toBe(401)
      expect(answer.headers['www-authenticate']).toBeUndefined()
    },
  )

  test('a token opens a session in a cookie that no script and no other site gets', async () => {
    const { post } = setUp()
    const answer = await post('/login', { token: fakeSecrets.read, next: '/hosts/rack1-n04' })
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe('/hosts/rack1-n04')
    const cookie = String(answer.headers['set-cookie'])
    expect(cookie).toMatch(
      /^pilotlight-8081=[A-Za-z0-9_-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(cookie).not.toContain(fakeSecrets.read)
  })

  test('under TLS the cookie goes over TLS alone, and belongs to this very name', async () => {
    const page = createPageApp({
      now: () => morning,
      access: { host: '127.0.0.1', trustedProxies: ['127.0.0.1'] },
    })
    opened.push(page)
    const answer = await page.app.inject({
      method: 'POST',
      url: '/login',
      headers: {
        host: '127.0.0.1:8081',
        'x-forwarded-for': '192.0.2.9',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'pilotlight.example',
        origin: 'https://pilotlight.example',
        'content-type': formType,
      },
      payload: form({ token: fakeSecrets.read }),
    })
    expect(answer.statusCode).toBe(303)
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-pilotlight=[^;]+; .*HttpOnly; Secure; SameSite=Strict$/,
    )
  })

  test('the login leads nowhere else', async () => {
    const { post } = setUp()
    const answer = await post('/login', { token: fakeSecrets.read, next: '//evil.example' })
    expect(answer.headers.location).toBe('/')
  })

  test('a wrong token says what to do, opens nothing, and is counted', async () => {
    const { post, metrics } = setUp()
    const answer = await post('/login', { token: 'plt_wrong' })
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.body).toContain('pilotlight token create NAME --role read')
    expect(answer.body).toContain('role="alert"')
    expect(answer.body).not.toContain('plt_wrong')
    expect(await metrics.text()).toContain('reason="invalid"} 1')
  })

  test('guessing is slowed down together with the API', async () => {
    const { post, get } = setUp()
    for (let attempt = 0; attempt < 10; attempt += 1) await post('/login', { token: `plt_guess${attempt}` })
    const answer = await post('/login', { token: fakeSecrets.read })
    expect(answer.statusCode).toBe(429)
    expect(answer.headers['retry-after']).toBeDefined()
    const api = await get('/api/v1/hosts', { authorization: 'Bearer plt_guess' })
    expect(api.statusCode).toBe(429)
  })

  test('a session ends by logging out, also for who kept its cookie', async () => {
    const { logIn } = setUp()
    const { get, post } = await logIn('read')
    const answer = await post('/logout', {})
    expect(answer.headers.location).toBe('/login')
    expect(String(answer.headers['set-cookie'])).toMatch(/^pilotlight-8081=; .*Expires=Thu, 01 Jan 1970/)
    expect((await get('/')).statusCode).toBe(303)
  })

  test('a new login ends the session before', async () => {
    const { logIn, post } = setUp()
    const { cookie, get } = await logIn('read')
    await post('/login', { token: fakeSecrets.write }, { cookie })
    expect((await get('/')).statusCode).toBe(303)
  })

  test('a session ends after twelve hours', async () => {
    const { logIn, pass } = setUp()
    const { get } = await logIn('read')
    pass(12 * 3_600_000)
    expect((await get('/')).statusCode).toBe(303)
  })

  test('the cookie is no credential of the API, and a token is none of the page', async () => {
    const { logIn, get } = setUp()
    const { cookie } = await logIn('write')
    expect((await get('/api/v1/hosts', { cookie })).statusCode).toBe(401)
    expect((await get('/', { authorization: `Bearer ${fakeSecrets.write}` })).statusCode).toBe(303)
  })

  test('the page is not there on the control socket', async () => {
    const { createFakeAdminApp } = await import('../../../fakes/admin-app.ts')
    const { app } = createFakeAdminApp({ access: 'control' })
    const answer = await app.inject({ url: '/', headers: { accept: 'text/html' } })
    expect(answer.statusCode).toBe(404)
    await app.close()
  })
})

describe('forms', () => {
  test.each(forms)('%s without the token of its session changes nothing', async (url) => {
    const { logIn, changes } = setUp()
    const { post } = await logIn('write')
    for (const wrong of ['', 'x'.repeat(43)]) {
      const answer = await post(url, { form: wrong, confirm: 'rack1-n04' })
      expect(answer.statusCode).toBe(403)
      expect(answer.body).toContain('nothing was changed')
    }
    expect(changes()).toEqual([])
  })

  test('the token of another session is none', async () => {
    const { logIn, changes } = setUp()
    const [mine, theirs] = [await logIn('write'), await logIn('write')]
    expect((await mine.post('/hosts/rack1-n04/hold', { form: theirs.formToken })).statusCode).toBe(403)
    expect(changes()).toEqual([])
  })

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['a page without origin', { origin: 'null' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour on another port', { origin: 'http://127.0.0.1:9999' }],
  ])('a form of %s is refused, also with the right token, also at the login', async (_, headers) => {
    const { logIn, post, changes } = setUp()
    const session = await logIn('write')
    expect((await session.post('/hosts/rack1-n04/hold', {}, headers)).statusCode).toBe(403)
    expect((await session.post('/logout', {}, headers)).statusCode).toBe(403)
    expect((await post('/login', { token: fakeSecrets.write }, headers)).statusCode).toBe(403)
    expect(changes()).toEqual([])
  })

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    'a body of %s is no form',
    async (type) => {
      const { logIn, changes } = setUp()
      const { post } = await logIn('write')
      const answer = await post('/hosts/rack1-n04/hold', {}, { 'content-type': type })
      expect([400, 403, 415]).toContain(answer.statusCode)
      expect(changes()).toEqual([])
    },
  )

  test('a form of a MiB is refused', async () => {
    const { logIn, changes } = setUp()
    const { post } = await logIn('write')
    const answer = await post('/hosts/rack1-n04/hold', { reason: 'x'.repeat(2 ** 20) })
    expect(answer.statusCode).toBe(413)
    expect(changes()).toEqual([])
  })

  test.each(forms)('role read sees no button to %s, and gets 403 for its page and its form', async (url) => {
    const { logIn, changes } = setUp()
    const { get, post } = await logIn('read')
    const machine = url.slice(0, url.lastIndexOf('/'))
    const shown = await get(machine)
    expect(shown.statusCode).toBe(200)
    expect(shown.body).not.toContain('class="actions"')
    expect((await get(url)).statusCode).toBe(403)
    const answer = await post(url, { confirm: 'rack1-n04' })
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('--role write')
    expect(changes()).toEqual([])
  })
})

describe('what can be done to a host', () => {
  const target = { kind: 'host', name: 'rack1-n04' }
  const actor = { by: 'token my-write', via: 'page' }
  test.each([
    [
      'pin',
      { release: '44.20261018.3.0', reason: 'NIC', until: '48h' },
      'setPin',
      { target, release: '44.20261018.3.0', reason: 'NIC', until: '48h' },
    ],
    ['unpin', { reason: 'fixed' }, 'removePin', { target, reason: 'fixed' }],
    [
      'install',
      { confirm: 'rack1-n04', device: '/dev/sda' },
      'armInstall',
      { host: 'rack1-n04', device: '/dev/sda' },
    ],
    ['installed', {}, 'endInstall', { host: 'rack1-n04', as: 'installed' }],
    ['disarm', {}, 'endInstall', { host: 'rack1-n04', as: 'disarm' }],
    ['local', {}, 'setMode', { target, mode: 'local' }],
    ['live', { until: '2026-12-31' }, 'setMode', { target, mode: 'live', until: '2026-12-31' }],
    ['hold', { reason: '  bad\u202e DIMM\n' }, 'setMode', { target, mode: 'hold', reason: 'bad DIMM' }],
    ['release', {}, 'releaseMode', { target }],
  ])(
    '%s asks on a page of its own, is done by who is logged in, and tells it once',
    async (name, fields, operation, body) => {
      const { logIn, changes } = setUp()
      const { get, post } = await logIn('write')
      const asking = await get(`/hosts/rack1-n04/${name}`)
      expect(asking.statusCode).toBe(200)
      expect(asking.body).toContain(`action="/hosts/rack1-n04/${name}"`)
      const answer = await post(`/hosts/rack1-n04/${name}`, fields)
      expect(answer.statusCode).toBe(303)
      expect(answer.headers.location).toBe('/hosts/rack1-n04')
      expect(changes().at(-1)).toEqual({ name: operation, arguments: [body, { actor }] })
      expect((await get('/hosts/rack1-n04')).body).toContain('class="notice"')
      expect((await get('/hosts/rack1-n04')).body).not.toContain('class="notice"')
    },
  )

  test('an install wants the id of the host typed, and says beforehand what would happen', async () => {
    const { answers } = createMixedFleet()
    const next = 'installs 44.20261115.3.0 to /dev/sda'
    const fleet = { ...answers.fleet, armInstall: async () => ({ ...sampleInstall, next }) }
    const { logIn, changes } = setUp({ ...answers, fleet })
    const { get, post } = await logIn('write')
    expect((await get('/hosts/rack1-n04/install')).body).toContain(next)
    const asked = changes().length
    expect(
      changes().every(({ arguments: given }) => (given[1] as { dryRun?: boolean }).dryRun === true),
    ).toBe(true)
    const answer = await post('/hosts/rack1-n04/install', { confirm: 'rack1-n05', device: '/dev/sdb' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('type rack1-n04 to confirm')
    expect(answer.body).toContain('value="/dev/sdb"')
    expect(
      changes()
        .slice(asked)
        .every(({ arguments: given }) => (given[1] as { dryRun?: boolean }).dryRun === true),
    ).toBe(true)
  })

  test('what is refused is told beside the form, with what was typed', async () => {
    const { answers } = createMixedFleet()
    const refusal = new ServiceError('USAGE', 'until is over', { hint: 'for example 48h' })
    const { logIn } = setUp({
      ...answers,
      fleet: { ...answers.fleet, setMode: () => Promise.reject(refusal) },
    })
    const { post } = await logIn('write')
    const answer = await post('/hosts/rack1-n04/hold', { reason: 'a "reason"', until: '2020-01-01' })
    expect(answer.statusCode).toBe(400)
    for (const text of [
      'until is over',
      'for example 48h',
      'value="a &quot;reason&quot;"',
      'value="2020-01-01"',
    ]) {
      expect(answer.body).toContain(text)
    }
  })

  test.each([
    ['/hosts/rack1-n04/hold', 'reason', 200],
    ['/hosts/rack1-n04/hold', 'until', 64],
    ['/hosts/rack1-n04/pin', 'release', 128],
    ['/machines/3c:ec:ef:10:2a:4e/adopt', 'reason', 200],
    ['/machines/3c:ec:ef:10:2a:4e/adopt', 'id', 63],
  ])('%s refuses a %s of more than %d characters, and cuts nothing', async (url, name, most) => {
    const { logIn, changes } = setUp()
    const { post } = await logIn('write')
    const answer = await post(url, { [name]: 'x'.repeat(most + 1) })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(`${name} has ${most + 1} characters, and may have ${most}`)
    expect(changes()).toEqual([])
    if (name !== 'release') expect(answer.body).toContain(`value="${'x'.repeat(most + 1)}"`)
    expect((await post(url, { release: '44.1', [name]: 'x'.repeat(most) })).statusCode).toBe(303)
  })

  test('an unknown machine is adopted, and its page becomes that of its host', async () => {
    const { logIn, changes } = setUp()
    const { get, post } = await logIn('write')
    expect((await get('/machines/3C-EC-EF-10-2A-4E')).body).toContain(
      '/machines/3c%3Aec%3Aef%3A10%3A2a%3A4e/adopt',
    )
    const answer = await post('/machines/3c:ec:ef:10:2a:4e/adopt', { id: 'rack9-n01', reason: 'new' })
    expect(answer.headers.location).toBe('/hosts/rack9-n01')
    expect(changes()).toEqual([
      {
        name: 'adoptHost',
        arguments: [{ mac: '3c:ec:ef:10:2a:4e', id: 'rack9-n01', reason: 'new' }, { actor }],
      },
    ])
    const machine = await get('/machines/52:54:00:00:00:03')
    expect(machine.headers.location).toBe('/hosts/rack1-n04')
  })

  test('an action that is none is not found', async () => {
    const { get } = await setUp().logIn('write')
    expect((await get('/hosts/rack1-n04/explode')).statusCode).toBe(404)
  })

  test('whoever looks after his session has ended is told why he is asked again, and comes back', async () => {
    const { get, logIn } = setUp()
    const { cookie } = await logIn('write')
    const stale = { cookie: cookie.replace(/=.{8}/, '=AAAAAAAA') }
    const looked = await get('/hosts/rack1-n04', stale)
    expect(looked.headers.location).toBe('/login?next=%2Fhosts%2Frack1-n04&ended=session')
    expect((await get(String(looked.headers.location))).body).toContain('Your session has ended')
  })

  test('a form after the end of its session changes nothing, says so, and leads back to itself', async () => {
    const { get, logIn, post, changes } = setUp()
    const { cookie } = await logIn('write')
    const stale = { cookie: cookie.replace(/=.{8}/, '=AAAAAAAA') }
    const sent = await post('/hosts/rack1-n04/hold', { reason: 'bad DIMM' }, stale)
    expect(sent.headers.location).toBe('/login?next=%2Fhosts%2Frack1-n04%2Fhold&ended=form')
    const login = await get(String(sent.headers.location))
    expect(login.body).toContain('nothing was changed')
    expect(login.body).toContain('value="/hosts/rack1-n04/hold"')
    expect((await get('/login?ended=<b>x</b>')).body).not.toContain('<b>x</b>')
    expect(changes()).toEqual([])
  })

  test('packets are downloaded under a name that cannot be another file', async () => {
    const { get } = await setUp().logIn('read')
    expect((await get('/hosts/rack1-n04')).body).toContain(
      'href="/machines/52%3A54%3A00%3A00%3A00%3A03/capture.pcap"',
    )
    const answer = await get('/machines/52:54:00:00:00:03/capture.pcap')
    expect(answer.headers['content-type']).toBe('application/vnd.tcpdump.pcap')
    expect(answer.headers['content-disposition']).toBe('attachment; filename="52-54-00-00-00-03.pcap"')
    expect(answer.rawPayload.readUInt32LE(0)).toBe(0xa1b2c3d4)
    expect((await get('/machines/..%2f..%2fetc/capture.pcap')).statusCode).toBe(404)
  })

  test.each([
    ['none are kept of', async () => ({ mac: '52:54:00:00:00:03', packets: 0, dropped: 0, pcap: '' })],
    [
      'cannot be had of',
      async () => {
        throw new ServiceError('NOT_FOUND', 'no packets are kept')
      },
    ],
  ])('a card that packets %s has no link to them, and the address of it says why', async (_, capture) => {
    const { answers } = createMixedFleet()
    const { get } = await setUp({ ...answers, boots: { ...answers.boots, capture } }).logIn('read')
    expect((await get('/hosts/rack1-n04')).body).not.toContain('capture.pcap')
    const answer = await get('/machines/52:54:00:00:00:03/capture.pcap')
    expect(answer.statusCode).toBe(404)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(answer.headers['content-disposition']).toBeUndefined()
    expect(answer.body).toContain('are kept')
  })
})

describe('each view', () => {
  test.each([...views, ...forms])('%s is a whole document without script or style inside', async (url) => {
    const { get } = await setUp().logIn('write')
    const { statusCode, headers, body } = await get(url)
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['referrer-policy']).toBe('same-origin')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(body).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:|<script(?! type="module" src=")/i)
    expect(body).not.toContain('undefined')
    expect(body).not.toContain('NaN')
    expect(body).not.toContain('[object')
  })

  test('the part of a view that a script asks for has nothing around it', async () => {
    const { get } = await setUp().logIn('write')
    const { body } = await get('/hosts/rack1-n04', { 'pilotlight-part': '1' })
    expect(body.trim()).toMatch(/^<div id="view">.*<\/div>$/s)
    expect(body).not.toContain('<html')
  })

  test('asking for a part does not take the notice that a person is to see', async () => {
    const { get, post } = await setUp().logIn('write')
    await post('/hosts/rack1-n04/hold', {})
    await get('/hosts/rack1-n04', { 'pilotlight-part': '1' })
    expect((await get('/hosts/rack1-n04')).body).toContain('It is held.')
  })

  test('the start weighs far below 200 KB without its rows, whole', async () => {
    const { get } = await setUp({ boots: {} }).logIn('write')
    const start = await get('/')
    const assets = [...start.body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(
      (match) => match[1] ?? '',
    )
    expect(assets).toHaveLength(3)
    let bytes = start.rawPayload.length
    for (const url of assets) {
      const answer = await get(url)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
      bytes += answer.rawPayload.length
    }
    expect(bytes).toBeLessThan(60_000)
  })

  test('a filter that cannot be meant is left out, and one that is typed wrong says so', async () => {
    const { operations, logIn } = setUp({
      fleet: {
        listAudit: () =>
          Promise.reject(new ServiceError('USAGE', 'since is not understood', { hint: 'for example 48h' })),
      },
    })
    const { get } = await logIn('read')
    const fleet = await get(`/?state=exploded&page=-1&sort=%00&search=${'x'.repeat(5_000)}&stream=a&stream=b`)
    expect(fleet.statusCode).toBe(200)
    expect(operations.boots.calls.at(-1)?.argument).toEqual({
      limit: 100,
      search: 'x'.repeat(200),
      stream: 'a',
    })
    const answer = await get('/events?since=soon')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('since is not understood: for example 48h')
  })

  test('a machine whose last boot is over and has something wrong is among those that need a person', async () => {
    const { answers, rows } = createMixedFleet()
    const { get } = await setUp(answers).logIn('read')
    const { body } = await get('/')
    const needy = rows.filter(
      ({ state, diagnosis }) => diagnosis !== undefined || ['stuck', 'failed', 'held'].includes(state),
    )
    expect(body).toContain(`${needy.length} machines need you.`)
    const shown = body.slice(body.indexOf('id="row-rack1-n09"'), body.indexOf('id="row-rack1-n09"') + 900)
    expect(shown).toMatch(/class="state warn">.*#i-stuck.*Booted/s)
    expect(body.indexOf('id="row-rack1-n09"')).toBeLessThan(body.indexOf('id="row-rack1-n04"'))
  })

  test.each([
    [
      '/?state=exploded',
      'There is no state &quot;exploded&quot;, so it is left out; there are stuck, failed',
    ],
    ['/boots?state=held', 'There is no state &quot;held&quot;, so it is left out; there are running'],
    ['/boots?pattern=x&outcome=y', 'There is no pattern &quot;x&quot;'],
    ['/boots?pattern=x&outcome=y', 'There is no outcome &quot;y&quot;'],
  ])('%s tells what it may be', async (url, text) => {
    const { get } = await setUp().logIn('read')
    const answer = await get(url)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain(text)
    expect(answer.body).toContain('<button>Filter</button>')
  })

  test('boots of a host that is none: the form stays, with the mistake beside it', async () => {
    const { answers } = createMixedFleet()
    const unknown = new ServiceError('NOT_FOUND', 'no host "nobody"', { hint: 'pilotlight hosts lists them' })
    const boots = { ...answers.boots, listBoots: () => Promise.reject(unknown) }
    const { get } = await setUp({ ...answers, boots }).logIn('read')
    const answer = await get('/boots?host=nobody')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('no host &quot;nobody&quot;: pilotlight hosts lists them')
    expect(answer.body).toContain('name="host" value="nobody"')
  })

  test('a bar is never without words, also where the last step is what is wrong', async () => {
    const { answers, move } = createMixedFleet()
    const text = 'It has fetched nothing of its rootfs.'
    const transfer = {
      role: 'rootfs',
      name: 'live-rootfs.x86_64.img',
      sentBytes: 0,
      totalBytes: 1_070_596_096,
      percent: 0,
      isDone: false,
    }
    const diagnosis = {
      code: 'overdue',
      text,
      remedy: 'Look at its console.',
      at: '2026-11-30T07:40:00.000Z',
    } as const
    move('rack1-n01', { state: 'stuck', step: text, phase: 'rootfs', transfer, diagnosis })
    const { get } = await setUp(answers).logIn('read')
    for (const url of ['/', '/hosts/rack1-n01']) {
      expect((await get(url)).body).toContain('rootfs: 0 B of 1021 MiB</span> <progress max="100" value="0"')
    }
  })

  test('pages and counts keep the filters', async () => {
    const { get } = await setUp(createMixedFleet(500).answers).logIn('read')
    const { body } = await get('/?stream=fcos-stable&page=2')
    expect(body).toContain('rel="prev" href="/?stream=fcos-stable"')
    expect(body).toContain('rel="next" href="/?stream=fcos-stable&amp;page=3"')
    expect(body).toContain('href="/?state=stuck&amp;stream=fcos-stable"')
    expect(body).toContain('101–200 of')
  })
})

describe('an empty service explains the next step', () => {
  const empty: FakeAnswers = {
    streams: async () => [],
    bootimages: async () => [],
    boots: {
      listMachines: async () => ({
        items: [],
        total: 0,
        counts: {},
        needs: 0,
        releases: [],
        groups: [],
        streams: [],
      }),
      listBoots: async () => ({ items: [], total: 0 }),
      showBoot: () => Promise.reject(new ServiceError('NOT_FOUND', 'no boot')),
      listPatterns: async () => [],
      diagnose: async () => ({ healthy: true, checkedAt: new Date(morning).toISOString(), findings: [] }),
    },
    fleet: {
      listAudit: async () => ({ items: [], total: 0 }),
      showHost: async (id) => ({ ...sampleHost, id, pins: [], boots: [] }),
      listRecords: async () => [],
    },
  }
  test.each([
    ['/', 'write a profile under <code>profiles:</code>'],
    ['/streams', 'pilotlight.yaml'],
    ['/boots', 'network boot first'],
    ['/events', 'show up here as they happen'],
    ['/doctor', 'Nothing keeps machines from booting.'],
    ['/hosts/new-host', 'Restart it with network boot first'],
  ])('%s says %j', async (url, text) => {
    const { get } = await setUp(empty).logIn('read')
    const answer = await get(url)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain(text)
  })

  test('the command that it tells to type names a profile that there is', async () => {
    const listRecords: FleetOperations['listRecords'] = async (kind) => [
      { ...sampleGroup, kind, name: 'node' },
    ]
    const { get } = await setUp({ ...empty, fleet: { ...empty.fleet, listRecords } }).logIn('read')
    expect((await get('/')).body).toContain(
      'pilotlight host add rack1-n01 --mac 52:54:00:ab:cd:ef --profile node</code>',
    )
  })
})

describe('what goes wrong', () => {
  test('a person gets a page, a program gets JSON', async () => {
    const { get } = setUp()
    const page = await get('/nowhere', { accept: 'text/html,*/*;q=0.8' })
    expect(page.statusCode).toBe(404)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body).toContain('Not found')
    expect(page.headers['content-security-policy']).toContain("script-src 'self'")
    const api = await get('/api/v1/nowhere', { accept: 'text/html' })
    expect(api.json()).toMatchObject({ code: 'NOT_FOUND' })
    expect((await get('/nowhere')).json()).toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each(['/hosts/nobody', '/boots/nothing', '/machines/02:00:00:00:00:99', '/machines/no-mac'])(
    '%s is not found, and says so',
    async (url) => {
      const { get } = await setUp().logIn('read')
      const answer = await get(url)
      expect(answer.statusCode).toBe(404)
      expect(answer.body).toContain('<h1>Not found</h1>')
    },
  )

  test('a store that does not answer is told as that, and may be tried again', async () => {
    const { answers } = createMixedFleet()
    const boots = { ...answers.boots, listBoots: () => Promise.reject(new ServiceError('STATE_UNAVAILABLE')) }
    const { get } = await setUp({ ...answers, boots }).logIn('read')
    const answer = await get('/boots')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('5')
    expect(answer.body).toContain('The state store does not answer.')
  })

  test('a fault of ours tells nothing of the inside, and the log has it', async () => {
    const { answers } = createMixedFleet()
    const boots = { ...answers.boots, diagnose: () => Promise.reject(new Error('/secret/path')) }
    const { logIn, log } = setUp({ ...answers, boots })
    const { get } = await logIn('read')
    const answer = await get('/doctor')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('secret')
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

describe('text of machines is text', () => {
  const evil = `<img src=x onerror=alert(1)>"'\u202e\u001b[31m{{ visitor.formToken }}{% raw %}${'A'.repeat(65_536)}`

  test.each(views)('%s', async (url) => {
    const { answers, rows, feed } = createMixedFleet(8)
    for (const [index, row] of rows.entries()) {
      rows[index] = {
        ...row,
        step: evil,
        release: evil,
        stream: 'fcos-stable',
        flags: [evil],
        pin: { release: evil, origin: evil },
        ...(row.diagnosis !== undefined && { diagnosis: { ...row.diagnosis, text: evil, remedy: evil } }),
        ...(row.transfer !== undefined && { transfer: { ...row.transfer, role: evil, name: evil } }),
      }
    }
    feed.publish('boot', () => ({ host: evil, step: evil, state: evil }), { host: evil })
    feed.publish('stream', () => ({ name: evil, error: { message: evil } }))
    feed.publish('change', () => ({ by: evil, action: evil, target: `host/${evil}`, summary: evil }))
    const { get } = await setUp(answers).logIn('write')
    const { statusCode, body } = await get(url)
    expect(statusCode).toBe(200)
    expect(body).not.toContain('<img')
    expect(body).not.toMatch(/[\p{Cf}\x7f]/u)
    expect(body).not.toContain('\u001b')
    expect(body).not.toMatch(/A{2000}/)
    expect(body.length).toBeLessThan(600_000)
  })
})
