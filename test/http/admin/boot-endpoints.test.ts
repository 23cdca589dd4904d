import { afterEach, describe, expect, test } from 'vitest'
import { createFakeAdminApp } from '../../fakes/admin-app.ts'
import { fakeSecrets } from '../../fakes/fleet-operations.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((app) => app.close()))
})

function createApp() {
  const made = createFakeAdminApp()
  opened.push(made.app)
  const get = (url: string) =>
    made.ask('GET', `/api/v1${url}`, { headers: { authorization: `Bearer ${fakeSecrets.read}` } })
  return { ...made, get }
}

describe('every operation on boots has its place, for a token of role read', () => {
  test.each([
    [
      '/boots?limit=5&after=x&host=a&mac=m&state=stuck&outcome=lost&pattern=loader-loop&since=2h',
      'listBoots',
      {
        limit: 5,
        after: 'x',
        host: 'a',
        mac: 'm',
        state: 'stuck',
        outcome: 'lost',
        pattern: 'loader-loop',
        since: '2h',
      },
    ],
    ['/boots/AAAAAAAAAAAAAAAAAAAAAA', 'showBoot', 'AAAAAAAAAAAAAAAAAAAAAA'],
    ['/boots/52:54:00:ab:cd:ef', 'showBoot', '52:54:00:ab:cd:ef'],
    ['/machines', 'listMachines', {}],
    [
      '/machines?page=2&search=rack&state=stuck&sort=seen',
      'listMachines',
      { page: 2, search: 'rack', state: 'stuck', sort: 'seen' },
    ],
    ['/machines?keys=a', 'listMachines', { keys: ['a'] }],
    ['/machines?keys=a&keys=52:54:00:ab:cd:f0', 'listMachines', { keys: ['a', '52:54:00:ab:cd:f0'] }],
    ['/patterns', 'listPatterns', undefined],
    ['/captures/52-54-00-ab-cd-ef', 'capture', { mac: '52-54-00-ab-cd-ef' }],
    ['/doctor', 'diagnose', undefined],
  ])('GET %s', async (url, name, argument) => {
    const { get, operations } = createApp()
    const answer = await get(url)
    expect([answer.statusCode, answer.json()]).toEqual([200, expect.any(Object)])
    expect(operations.boots.calls).toEqual([{ name, argument }])
  })

  test.each([
    ['/boots?state=sick', 'state'],
    ['/boots?limit=0', 'limit'],
    ['/machines?key=a', 'key'],
    ['/machines?page=0', 'page'],
    [`/machines?${'keys=a&'.repeat(201)}`, 'keys'],
    ['/machines?search=%1b[31m', 'search'],
    [`/boots/${'x'.repeat(65)}`, 'id'],
    ['/captures/a%0Ab', 'mac'],
    ['/patterns?x=1', 'x'],
  ])('GET %s is refused and asks nothing', async (url, field) => {
    const { get, operations } = createApp()
    const answer = await get(url)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'USAGE', field })
    expect(operations.boots.calls).toEqual([])
  })

  test('a boot that nobody knows is answered so', async () => {
    const { get } = createApp()
    const answer = await get('/boots/nothing')
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
  })
})
