import { expect, test } from 'vitest'
import { isAllowedHost, isLoopback } from '../../../src/http/admin/access.ts'

test.each(['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'])(
  '%s is reached from this machine alone',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

test.each([
  '0.0.0.0',
  '::',
  '192.0.2.1',
  '127.evil.example',
  '127.0.0.1.evil',
  '',
  '::ffff:192.0.2.1',
  '1270.0.0.1',
])('%j can be reached by others', (host) => {
  expect(isLoopback(host)).toBe(false)
})

test('a client without a Host header is no browser', () => {
  expect(isAllowedHost(undefined, '127.0.0.1')).toBe(true)
})

test.each([
  '',
  ' ',
  'evil.example',
  '[::1',
  '::1',
  '127.0.0.1:port',
  'localhost:8081:1',
  'localhost.',
  'x@localhost',
])('Host %j names somebody else', (header) => {
  expect(isAllowedHost(header, '127.0.0.1')).toBe(false)
})

test.each([
  ['[fd00::1]:8081', '[fd00::1]'],
  ['[FD00::1]', 'fd00::1'],
  ['127.0.0.53:8081', '127.0.0.53'],
])('Host %s names the listener on %s', (header, listenHost) => {
  expect(isAllowedHost(header, listenHost)).toBe(true)
})
