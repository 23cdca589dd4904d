import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ApiRole } from '../../../../src/core/fleet.ts'
import { createSessions, isSameSecret, sessionLifeMs } from '../../../../src/http/admin/page/sessions.ts'

function setUp(most?: number) {
  let now = 1_000_000
  const tokens = new Map<string, ApiRole>([
    ['reading', 'read'],
    ['writing', 'write'],
  ])
  const sessions = createSessions({
    clock: { now: () => now },
    randomBytes,
    authenticate(credential) {
      const role = tokens.get(credential)
      return role && { actor: { by: `token ${credential}`, via: 'api' }, role }
    },
    ...(most !== undefined && { most }),
  })
  return { sessions, tokens, pass: (ms: number) => (now += ms) }
}

test('a session is its token: the same name and role, by way of the page', () => {
  const { sessions } = setUp()
  const visitor = sessions.find(sessions.open('writing'))
  expect(visitor?.actor).toEqual({ by: 'token writing', via: 'page' })
  expect(visitor?.role).toBe('write')
})

test('a cookie has 256 random bits, and so has the token of its forms', () => {
  const { sessions } = setUp()
  const cookies = [sessions.open('reading'), sessions.open('reading')]
  const forms = cookies.map((cookie) => sessions.find(cookie)?.formToken ?? '')
  for (const secret of [...cookies, ...forms]) expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
  expect(new Set([...cookies, ...forms]).size).toBe(4)
})

test('it ends with its token, at once', () => {
  const { sessions, tokens } = setUp()
  const cookie = sessions.open('writing')
  tokens.delete('writing')
  expect(sessions.find(cookie)).toBeUndefined()
  tokens.set('writing', 'write')
  expect(sessions.find(cookie)).toBeUndefined()
})

test('it ends after twelve hours, however often it is used', () => {
  const { sessions, pass } = setUp()
  const cookie = sessions.open('reading')
  pass(sessionLifeMs - 1)
  expect(sessions.find(cookie)).toBeDefined()
  pass(1)
  expect(sessions.find(cookie)).toBeUndefined()
})

test('a clock that is set back by a day makes no session of 36 hours', () => {
  const { sessions, pass } = setUp()
  const cookie = sessions.open('reading')
  pass(-24 * 3_600_000)
  expect(sessions.find(cookie)).toBeUndefined()
})

test('it ends by itself when it is closed, and other sessions of the token stay', () => {
  const { sessions } = setUp()
  const [here, there] = [sessions.open('reading'), sessions.open('reading')]
  sessions.close(here)
  expect(sessions.find(here)).toBeUndefined()
  expect(sessions.find(there)).toBeDefined()
})

test('when there are too many the oldest ends', () => {
  const { sessions } = setUp(2)
  const cookies = [1, 2, 3].map(() => sessions.open('reading'))
  expect(cookies.map((cookie) => sessions.find(cookie) !== undefined)).toEqual([false, true, true])
})

test.each(['', 'x', '__proto__', 'A'.repeat(64 * 1024)])('an unknown cookie %.20j is nobody', (cookie) => {
  expect(setUp().sessions.find(cookie)).toBeUndefined()
})

test('a notice is told once', () => {
  const { sessions } = setUp()
  const cookie = sessions.open('writing')
  sessions.find(cookie)?.notice.leave('Pinned.')
  expect(sessions.find(cookie)?.notice.take()).toBe('Pinned.')
  expect(sessions.find(cookie)?.notice.take()).toBeUndefined()
})

test('secrets are the same only when all of them is', () => {
  expect(isSameSecret('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'ab', 'abcd', '', undefined, ['abc'], { length: 3 }]) {
    expect(isSameSecret(other, 'abc')).toBe(false)
  }
})
