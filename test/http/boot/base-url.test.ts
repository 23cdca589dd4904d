import { describe, expect, test } from 'vitest'
import { baseUrl, plainAddress } from '../../../src/http/boot/base-url.ts'

const local = { localAddress: '192.0.2.10', localPort: 8080 }

test.each([
  [{}, local, 'http://192.0.2.10:8080'],
  [{}, { ...local, localPort: 80 }, 'http://192.0.2.10'],
  [{}, { localAddress: '::ffff:192.0.2.10', localPort: 8080 }, 'http://192.0.2.10:8080'],
  [{}, { localAddress: '2001:db8::10', localPort: 80 }, 'http://[2001:db8::10]'],
  [{}, { localAddress: 'fe80::1%eth1', localPort: 8080 }, 'http://[fe80::1]:8080'],
  [{ address: '198.51.100.7' }, local, 'http://198.51.100.7:8080'],
  [{ address: '198.51.100.7', port: 80 }, local, 'http://198.51.100.7'],
  [{ address: 'boot.example' }, local, 'http://boot.example:8080'],
  [{ address: '2001:db8::7' }, local, 'http://[2001:db8::7]:8080'],
  [{ address: '[2001:db8::7]' }, local, 'http://[2001:db8::7]:8080'],
])('configured %o, asked on %o: %s', (configured, end, url) => {
  expect(baseUrl(configured, end)).toBe(url)
})

describe('addresses as people write them', () => {
  test.each([
    ['::FFFF:192.0.2.55', '192.0.2.55'],
    ['192.0.2.55', '192.0.2.55'],
    ['::1', '::1'],
  ])('%s', (address, plain) => {
    expect(plainAddress(address)).toBe(plain)
  })
})
