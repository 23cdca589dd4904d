import { describe, expect, test } from 'vitest'
import { createLoginGuard } from '../../../src/http/admin/login-guard.ts'

function createTestGuard(options: { mostAddresses?: number } = {}) {
  let now = 0
  const guard = createLoginGuard({ clock: { now: () => now }, burst: 3, everyMs: 10_000, ...options })
  const fail = (address: string, times: number) => {
    for (let time = 0; time < times; time += 1) guard.failed(address)
  }
  return { guard, fail, pass: (ms: number) => (now += ms) }
}

describe('failed logins', () => {
  test('a few are no matter, then the address waits, and time makes good one after the other', () => {
    const { guard, fail, pass } = createTestGuard()
    fail('192.0.2.1', 2)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(0)
    fail('192.0.2.1', 1)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(10)
    pass(4_000)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(6)
    pass(6_000)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(0)
    fail('192.0.2.1', 1)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(10)
  })

  test('a thousand of them make nobody wait longer than the few', () => {
    const { guard, fail } = createTestGuard()
    fail('192.0.2.1', 1000)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(10)
  })

  test('other addresses have nothing to do with it', () => {
    const { guard, fail } = createTestGuard()
    fail('192.0.2.1', 3)
    expect(guard.waitSeconds('192.0.2.2', 'x')).toBe(0)
  })

  test('whoever logged in well from there is not locked out by a neighbour, a new credential is', () => {
    const { guard, fail } = createTestGuard()
    guard.succeeded('192.0.2.1', 'good')
    fail('192.0.2.1', 5)
    expect(guard.waitSeconds('192.0.2.1', 'good')).toBe(0)
    expect(guard.waitSeconds('192.0.2.1', 'other')).toBe(10)
    expect(guard.waitSeconds('192.0.2.2', 'good')).toBe(0)
  })

  test.each([
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2'],
    ['2001:DB8:0:1::1', '2001:0db8:0000:0001:0:0:0:9'],
    ['::1', '::2'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('%s and %s count as one', (a, b) => {
    const { guard, fail } = createTestGuard()
    fail(a, 3)
    expect(guard.waitSeconds(b, 'x')).toBe(10)
  })

  test('2001:db8:0:1:: and 2001:db8:0:2:: are two', () => {
    const { guard, fail } = createTestGuard()
    fail('2001:db8:0:1::1', 3)
    expect(guard.waitSeconds('2001:db8:0:2::1', 'x')).toBe(0)
  })

  test('a clock that is set back neither forgives nor punishes', () => {
    const { guard, fail, pass } = createTestGuard()
    pass(1_000_000)
    fail('192.0.2.1', 3)
    pass(-500_000)
    expect(guard.waitSeconds('192.0.2.1', 'x')).toBe(10)
  })

  test('memory is bounded: the address that was quiet for longest is forgotten', () => {
    const { guard, fail } = createTestGuard({ mostAddresses: 2 })
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.3']) fail(address, 3)
    const waits = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => guard.waitSeconds(address, 'x'))
    expect(waits).toEqual([10, 0, 10])
  })

  test('of one address so many good credentials are remembered and no more', () => {
    const { guard, fail } = createTestGuard()
    for (let number = 0; number < 20; number += 1) guard.succeeded('192.0.2.1', `token-${number}`)
    fail('192.0.2.1', 3)
    expect(guard.waitSeconds('192.0.2.1', 'token-0')).toBe(10)
    expect(guard.waitSeconds('192.0.2.1', 'token-19')).toBe(0)
  })
})
