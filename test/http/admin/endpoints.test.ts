import { afterEach, describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { InstallSummary } from '../../../src/http/admin/schemas/fleet.ts'
import { type AdminAppSetup, createFakeAdminApp } from '../../fakes/admin-app.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

function createApp(setup: AdminAppSetup = {}) {
  const made = createFakeAdminApp(setup)
  opened.push(made.app)
  return made
}

const actor = { by: 'token my-write', via: 'api' }
const host = { kind: 'host', name: 'rack1-n01' }

describe('every operation on machines has its place', () => {
  test.each([
    [
      'GET',
      '/hosts?limit=5&after=a&label=site%3Dedge&mode=live',
      undefined,
      'listHosts',
      [{ limit: 5, after: 'a', label: 'site=edge', mode: 'live' }],
    ],
    ['GET', '/hosts/a', undefined, 'showHost', ['a']],
    [
      'PUT',
      '/hosts/a',
      { spec: { macs: [] }, reason: 'new' },
      'putHost',
      ['a', { spec: { macs: [] }, reason: 'new' }, { actor }],
    ],
    ['DELETE', '/hosts/a?reason=gone', undefined, 'removeHost', ['a', { actor, reason: 'gone' }]],
    ['GET', '/seen', undefined, 'listSeen', [{}]],
    [
      'POST',
      '/seen/adopt',
      { mac: '52-54-00-00-00-01' },
      'adoptHost',
      [{ mac: '52-54-00-00-00-01' }, { actor }],
    ],
    [
      'POST',
      '/records/import',
      { text: 'hosts: []', name: 'a.yaml', mode: 'merge' },
      'importRecords',
      [{ text: 'hosts: []', name: 'a.yaml', mode: 'merge' }, { actor }],
    ],
    ['GET', '/records/export?all=true', undefined, 'exportRecords', [{ all: true }]],
    ['GET', '/records/export', undefined, 'exportRecords', [{ all: false }]],
    ['GET', '/groups', undefined, 'listRecords', ['group']],
    ['GET', '/groups/g', undefined, 'showRecord', ['group', 'g']],
    ['PUT', '/groups/g', { spec: {} }, 'putRecord', ['group', 'g', { spec: {} }, { actor }]],
    ['DELETE', '/groups/g', undefined, 'removeRecord', ['group', 'g', { actor }]],
    ['GET', '/profiles', undefined, 'listRecords', ['profile']],
    ['GET', '/profiles/p', undefined, 'showRecord', ['profile', 'p']],
    ['PUT', '/profiles/p', { spec: {} }, 'putRecord', ['profile', 'p', { spec: {} }, { actor }]],
    ['DELETE', '/profiles/p', undefined, 'removeRecord', ['profile', 'p', { actor }]],
    ['GET', '/pins?host=a', undefined, 'listPins', [{ host: 'a' }]],
    [
      'PUT',
      '/pins',
      { target: host, release: 'current' },
      'setPin',
      [{ target: host, release: 'current' }, { actor }],
    ],
    [
      'DELETE',
      '/pins/host/rack1-n01?arch=aarch64&reason=ok',
      undefined,
      'removePin',
      [{ target: host, arch: 'aarch64', reason: 'ok' }, { actor }],
    ],
    ['GET', '/pins/options?host=a', undefined, 'pinnable', [{ host: 'a' }]],
    ['PUT', '/modes', { target: host, mode: 'hold' }, 'setMode', [{ target: host, mode: 'hold' }, { actor }]],
    [
      'DELETE',
      '/modes/group/edge',
      undefined,
      'releaseMode',
      [{ target: { kind: 'group', name: 'edge' } }, { actor }],
    ],
    ['GET', '/installs', undefined, 'listInstalls', []],
    [
      'PUT',
      '/installs',
      { host: 'a', mostServes: 3 },
      'armInstall',
      [{ host: 'a', mostServes: 3 }, { actor }],
    ],
    [
      'POST',
      '/installs/end',
      { host: 'a', as: 'installed' },
      'endInstall',
      [{ host: 'a', as: 'installed' }, { actor }],
    ],
    ['GET', '/reports?boot=b', undefined, 'listReports', [{ boot: 'b' }]],
    [
      'POST',
      '/hosts/a/revoke-boot-tokens',
      { reason: 'leak' },
      'revokeBootTokens',
      [{ host: 'a', reason: 'leak' }, { actor }],
    ],
    ['GET', '/tokens', undefined, 'listTokens', []],
    ['DELETE', '/tokens/t?reason=lost', undefined, 'revokeToken', ['t', { actor, reason: 'lost' }]],
    ['GET', '/audit?since=48h', undefined, 'listAudit', [{ since: '48h' }]],
  ] as const)('%s %s', async (method, url, body, name, given) => {
    const { ask, fleet } = createApp()
    const answer = await ask(method, `/api/v1${url}`, body === undefined ? {} : { body })
    expect([answer.statusCode, answer.body]).toEqual([answer.body === '' ? 204 : 200, answer.body])
    expect(fleet.calls).toEqual([{ name, arguments: given }])
  })

  test.each([
    ['/backup', { file: '/srv/backup.db' }, 404],
    ['/restore', { file: '/srv/backup.db' }, 404],
    ['/tokens', { name: 'ci', role: 'write' }, 405],
  ])('POST %s is on the control socket alone', async (path, body, status) => {
    const tcp = createApp()
    const answer = await tcp.ask('POST', `/api/v1${path}`, { body })
    expect(answer.statusCode).toBe(status)
    expect(answer.json().hint).toBe('this is done on the machine of the service, with pilotlight')
    expect(tcp.fleet.calls).toEqual([])
    const control = createApp({ access: 'control' })
    expect((await control.ask('POST', `/api/v1${path}`, { body })).statusCode).toBe(200)
    expect(control.fleet.calls[0]?.arguments[0]).toEqual(body)
  })
})

describe('a body that is not there, with JSON in the headers', () => {
  const headers = { 'content-type': 'application/json' }

  test.each([
    ['DELETE', '/hosts/a', 'removeHost'],
    ['DELETE', '/pins/host/a', 'removePin'],
    ['DELETE', '/tokens/t', 'revokeToken'],
    ['DELETE', '/modes/group/edge', 'releaseMode'],
    ['GET', '/hosts', 'listHosts'],
  ] as const)('is what %s %s wants', async (method, url, name) => {
    const { ask, fleet } = createApp()
    const answer = await ask(method, `/api/v1${url}`, { headers })
    expect([answer.statusCode, answer.body === '' ? '' : answer.json().code]).toEqual([
      answer.body === '' ? 204 : 200,
      answer.body === '' ? '' : undefined,
    ])
    expect(fleet.calls).toMatchObject([{ name }])
  })

  test.each([
    ['PUT', '/hosts/a'],
    ['PUT', '/pins'],
    ['POST', '/installs/end'],
  ] as const)('is refused by %s %s', async (method, url) => {
    const { ask, fleet } = createApp()
    const answer = await ask(method, `/api/v1${url}`, { headers })
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'USAGE'])
    expect(fleet.calls).toEqual([])
  })

  test('a body that is not JSON is refused, and one that names prototypes too', async () => {
    const { ask, fleet } = createApp()
    for (const body of ['{', '{"__proto__": {"a": 1}}', 'null x']) {
      const answer = await ask('DELETE', '/api/v1/hosts/a', { headers, body })
      expect([body, answer.statusCode]).toEqual([body, 400])
    }
    expect(fleet.calls).toEqual([])
  })
})

describe('a field that is not known', () => {
  test.each([
    ['PUT', '/pins', { traget: { kind: 'host', name: 'a' }, release: 'current' }, 'traget', 'target'],
    ['PUT', '/pins', { target: { kind: 'host', nam: 'a' }, release: 'current' }, 'target.nam', 'name'],
    ['PUT', '/installs', { hots: 'a' }, 'hots', 'host'],
    ['PUT', '/modes', { target: { kind: 'host', name: 'a' }, mdoe: 'hold' }, 'mdoe', 'mode'],
  ] as const)(
    'is told before the one that is missing because of it: %s %s %j',
    async (method, url, body, field, meant) => {
      const { ask, fleet } = createApp()
      const answer = await ask(method, `/api/v1${url}`, { body })
      expect(answer.json()).toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching(/^unknown field /),
        field,
        hint: expect.stringContaining(`did you mean "${meant}"?`),
      })
      expect(fleet.calls).toEqual([])
    },
  )

  test('where none is unknown, what is missing is told', async () => {
    const answer = await createApp().ask('PUT', '/api/v1/installs', { body: {} })
    expect(answer.json()).toMatchObject({ code: 'USAGE', message: 'field host is missing', field: 'host' })
  })
})

describe('pages of installs', () => {
  const install = async (host: string, state: 'armed' | 'installed') => {
    const [sample] = await createApp().fleet.listInstalls()
    return { ...sample, host, state } as InstallSummary
  }

  test('come by host, each after the one before, and only those that are asked for', async () => {
    const all = [
      await install('c', 'armed'),
      await install('a', 'installed'),
      await install('b', 'armed'),
      await install('d', 'armed'),
    ]
    const { ask } = createApp({ answers: { fleet: { listInstalls: async () => all } } })
    const hostsOf = async (query: string) => {
      const { items, total, next } = (await ask('GET', `/api/v1/installs?${query}`)).json()
      return { hosts: items.map(({ host }: InstallSummary) => host), total, next }
    }
    expect(await hostsOf('')).toEqual({ hosts: ['a', 'b', 'c', 'd'], total: 4, next: undefined })
    expect(await hostsOf('limit=3')).toEqual({ hosts: ['a', 'b', 'c'], total: 4, next: 'c' })
    expect(await hostsOf('limit=3&after=c')).toEqual({ hosts: ['d'], total: 4, next: undefined })
    expect(await hostsOf('state=armed&limit=2')).toEqual({ hosts: ['b', 'c'], total: 3, next: 'c' })
    expect(await hostsOf('host=a')).toEqual({ hosts: ['a'], total: 1, next: undefined })
    expect(await hostsOf('after=z')).toEqual({ hosts: [], total: 4, next: undefined })
  })
})

describe('how a change is asked for', () => {
  test.each([
    ['dryRun=true', { dryRun: true }],
    ['dryRun=false', { dryRun: false }],
    ['', {}],
  ])('?%s', async (query, expected) => {
    const { ask, fleet } = createApp()
    await ask('PUT', `/api/v1/groups/g?${query}`, { body: { spec: {} } })
    expect(fleet.calls[0]?.arguments[3]).toEqual({ actor, ...expected })
  })

  test.each(['dryRun=1', 'dryRun=', 'dryRun=TRUE', 'dryRun=true&dryRun=false', 'dry_run=true'])(
    '?%s is refused, because nothing may be changed by a slip',
    async (query) => {
      const { ask, fleet } = createApp()
      const answer = await ask('PUT', `/api/v1/groups/g?${query}`, { body: { spec: {} } })
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'USAGE'])
      expect(fleet.calls).toEqual([])
    },
  )

  test('the revision that was seen is the ETag, and goes back as If-Match', async () => {
    const { ask, fleet } = createApp()
    for (const url of ['/hosts/a', '/groups/g', '/profiles/p']) {
      const { headers } = await ask('GET', `/api/v1${url}`)
      expect(headers.etag).toMatch(/^"\d+"$/)
      const changed = await ask('PUT', `/api/v1${url}`, {
        body: { spec: {} },
        headers: { 'if-match': String(headers.etag) },
      })
      expect(changed.headers.etag).toBe(headers.etag)
      expect(fleet.calls.at(-1)?.arguments.at(-1)).toEqual({
        actor,
        ifRevision: Number(String(headers.etag).replaceAll('"', '')),
      })
    }
    await ask('PUT', '/api/v1/hosts/a', { body: { spec: {} }, headers: { 'if-none-match': '*' } })
    expect(fleet.calls.at(-1)?.arguments.at(-1)).toEqual({ actor, ifRevision: 0 })
  })

  test.each<Record<string, string>>([
    { 'if-match': '7' },
    { 'if-match': 'W/"7"' },
    { 'if-match': '"7", "8"' },
    { 'if-match': '*' },
    { 'if-match': '"x"' },
    { 'if-match': '"0"' },
    { 'if-match': '' },
    { 'if-none-match': '"7"' },
    { 'if-match': '"7"', 'if-none-match': '*' },
  ])('the condition %j is refused, never ignored', async (headers) => {
    const { ask, fleet } = createApp()
    const answer = await ask('DELETE', '/api/v1/hosts/a', { headers })
    expect([answer.statusCode, answer.json().field]).toEqual([400, expect.stringMatching(/^if-/)])
    expect(fleet.calls).toEqual([])
  })

  test('a condition where nothing has a revision is refused, too', async () => {
    const { ask, fleet } = createApp()
    const body = { target: host, release: 'current' }
    const answer = await ask('PUT', '/api/v1/pins', { body, headers: { 'if-match': '"7"' } })
    expect([answer.statusCode, answer.json().field]).toEqual([400, 'if-match'])
    expect(fleet.calls).toEqual([])
  })

  test('somebody else was faster: 412 and what to do', async () => {
    const { ask } = createApp({
      answers: {
        fleet: {
          putHost: () =>
            Promise.reject(
              new ServiceError('REVISION_DIFFERS', 'host a is at revision 8', { hint: 'look again' }),
            ),
        },
      },
    })
    const answer = await ask('PUT', '/api/v1/hosts/a', { body: { spec: {} }, headers: { 'if-match': '"7"' } })
    expect(answer.statusCode).toBe(412)
    expect(answer.json()).toEqual({
      code: 'REVISION_DIFFERS',
      message: 'host a is at revision 8',
      hint: 'look again',
    })
  })
})

describe('what is not understood is refused with what is allowed (field case 126)', () => {
  test.each([
    ['PUT', '/pins', { target: { kind: 'host', nam: 'a' }, release: 'x' }, 'target.nam', undefined],
    [
      'PUT',
      '/pins',
      { target: { kind: 'host', name: 'a', uid: 1 }, release: 'x' },
      'target.uid',
      'allowed: kind, name',
    ],
    [
      'PUT',
      '/pins',
      { target: host, release: 'x', untill: '48h' },
      'untill',
      'did you mean "until"? allowed: target, release, stream, arch, reason, until',
    ],
    [
      'PUT',
      '/pins',
      { target: { kind: 'rack', name: 'a' }, release: 'x' },
      'target.kind',
      'allowed: host, group',
    ],
    ['PUT', '/pins', { target: host, release: '' }, 'release', undefined],
    ['PUT', '/pins', { target: host, release: 'x', reason: 'a\nb' }, 'reason', undefined],
    ['GET', '/audit?by=%00', undefined, 'by', undefined],
    ['GET', '/hosts?search=a%0Ab', undefined, 'search', undefined],
    ['DELETE', '/hosts/a?reason=%E2%80%AEa', undefined, 'reason', undefined],
    ['PUT', '/pins', { target: host, release: 'x', reason: 'half \ud800' }, 'reason', undefined],
    ['PUT', '/installs', { host: 'a', mostServes: '3' }, 'mostServes', undefined],
    ['PUT', '/installs', { host: 'a', mostServes: 0 }, 'mostServes', undefined],
    ['GET', '/hosts?limit=0', undefined, 'limit', undefined],
    ['GET', '/hosts?limit=1001', undefined, 'limit', undefined],
    ['GET', '/hosts?limit=5.5', undefined, 'limit', undefined],
    ['GET', '/hosts?limit=0x10', undefined, 'limit', undefined],
    ['GET', '/hosts?limit=%205', undefined, 'limit', undefined],
    ['GET', '/hosts?lable=a', undefined, 'lable', expect.stringContaining('did you mean "label"?')],
    ['DELETE', '/pins/rack/a', undefined, 'kind', 'allowed: host, group'],
    ['GET', `/hosts/${'x'.repeat(64)}`, undefined, 'id', undefined],
    ['DELETE', '/hosts/a?force=true', undefined, 'force', 'allowed: dryRun, reason'],
  ] as const)('%s %s %j', async (method, url, body, field, hint) => {
    const { ask, fleet } = createApp()
    const answer = await ask(method, `/api/v1${url}`, body === undefined ? {} : { body })
    expect([answer.statusCode, answer.json().code, answer.json().field]).toEqual([400, 'USAGE', field])
    if (hint !== undefined) expect(answer.json().hint).toEqual(hint)
    expect(answer.json().message).toMatch(/\w+ \w+/)
    expect(fleet.calls).toEqual([])
  })

  test.each([
    ['text/plain', '{"spec":{}}', 415],
    ['application/x-www-form-urlencoded', 'spec=1', 415],
    ['application/json', '{"spec":', 400],
    ['application/json', '', 400],
    ['application/json', '[]', 400],
    ['application/json', 'null', 400],
    ['application/json', '{"spec":{},"__proto__":{"a":1}}', 400],
    ['application/json', '{"spec":{"constructor":{"prototype":{"a":1}}}}', 400],
  ])('a body of %s %j is no body for a change', async (type, body, status) => {
    const { ask, fleet } = createApp()
    const answer = await ask('PUT', '/api/v1/hosts/a', { body, headers: { 'content-type': type } })
    expect([answer.statusCode, answer.json().code]).toEqual([status, 'USAGE'])
    expect(fleet.calls).toEqual([])
  })

  test('a verb that a place does not have is told which it has', async () => {
    const { ask } = createApp()
    const answer = await ask('POST', '/api/v1/hosts/a')
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT'])
  })
})

describe('errors of operations', () => {
  test.each([
    ['NOT_FOUND', 404],
    ['CONFLICT', 409],
    ['USAGE', 400],
    ['STATE_UNAVAILABLE', 503],
    ['STORAGE_FAILED', 500],
  ] as const)('%s is answered with %i', async (code, status) => {
    const refuse = () =>
      Promise.reject(new ServiceError(code, 'this and that', { field: 'spec.macs', hint: 'so' }))
    const { ask } = createApp({ answers: { fleet: { putHost: refuse } } })
    const answer = await ask('PUT', '/api/v1/hosts/a', { body: { spec: {} } })
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toEqual({ code, message: 'this and that', field: 'spec.macs', hint: 'so' })
    expect(answer.headers['retry-after']).toBe(status === 503 ? '5' : undefined)
  })

  test('a store that stays away is logged once a minute, and answered each time', async () => {
    let now = 0
    const refuse = () => Promise.reject(new ServiceError('STATE_UNAVAILABLE'))
    const { ask, log } = createApp({ answers: { fleet: { putHost: refuse } }, now: () => now })
    const faults = () => log.lines.filter(({ level }) => level === 'error')
    const put = () => ask('PUT', '/api/v1/hosts/a', { body: { spec: {} } })
    for (let time = 0; time < 20; time += 1) expect((await put()).statusCode).toBe(503)
    expect(faults()).toHaveLength(1)
    now += 60_000
    await put()
    expect(faults()).toMatchObject([{}, { message: 'admin request failed', fields: { suppressed: 19 } }])
  })

  test('an answer with a field that its schema does not have is sent as it is', async () => {
    const { ask } = createApp({
      answers: { fleet: { showHost: async () => ({ id: 'a', more: 1 }) as never } },
    })
    expect((await ask('GET', '/api/v1/hosts/a')).json()).toEqual({ id: 'a', more: 1 })
  })

  test('a thousand hosts on a page are written within a few turns', async () => {
    const { ask, fleet } = createApp()
    const [sample] = (await fleet.listHosts({})).items
    const items = Array.from({ length: 1000 }, (_, index) => ({ ...sample, id: `host-${index}` }))
    const big = createApp({
      answers: { fleet: { listHosts: async () => ({ items: items as never, total: 5000 }) } },
    })
    const answer = await big.ask('GET', '/api/v1/hosts?limit=1000')
    expect(answer.json().items).toHaveLength(1000)
    expect((await ask('GET', '/api/v1/hosts')).json().total).toBe(1)
  })
})
