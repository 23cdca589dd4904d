import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ownPath } from '../../../../src/http/admin/page/own-path.ts'

test.each(['/', '/hosts/rack1-n01', '/?state=stuck&page=2', '/machines/52%3A54%3A00%3Aab%3Acd%3Aef'])(
  '%s is a path of this page',
  (path) => expect(ownPath(path)).toBe(path),
)

test.each([
  '//evil.example',
  '/\\evil.example',
  '/\\/evil.example',
  '/%2F/../..//evil.example',
  '/x/..//evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/hosts\nx',
  '/a b',
  ' /hosts',
  'hosts',
  '',
  undefined,
  ['/hosts', '//evil.example'],
  `/${'x'.repeat(3_000)}`,
  '/login?next=/login',
  '/logout',
  '/live',
])('%j leads to the start', (path) => {
  const led = ownPath(path)
  expect(new URL(led, 'http://page.example').origin).toBe('http://page.example')
  expect(led.startsWith('//')).toBe(false)
  if (typeof path === 'string' && !path.includes('..')) expect(led).toBe('/')
})

test('whatever is asked for, a browser stays on this listener', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webUrl(),
        fc.string().map((text) => `/${text}`),
      ),
      (text) => {
        expect(new URL(ownPath(text), 'http://page.example').origin).toBe('http://page.example')
      },
    ),
  )
})
