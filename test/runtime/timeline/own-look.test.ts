import { expect, test } from 'vitest'
import { parseMac } from '../../../src/core/mac.ts'
import { isOwnLook } from '../../../src/runtime/timeline/own-look.ts'

const own = () => new Set(['127.0.0.1', '192.0.2.10'])
const mac = parseMac('52:54:00:ab:cd:ef')

test('who looks from this machine and says no card is no machine that boots', () => {
  expect(isOwnLook({ address: '192.0.2.10' }, own)).toBe(true)
  expect(isOwnLook({ address: '127.0.0.1' })).toBe(true)
})

test('machines are: by their card, their host, or an address of their own', () => {
  expect(isOwnLook({ address: '192.0.2.11' }, own)).toBe(false)
  expect(isOwnLook({ address: '127.0.0.1', ...(mac !== undefined && { mac }) }, own)).toBe(false)
  expect(isOwnLook({ address: '127.0.0.1', host: 'n1' }, own)).toBe(false)
  expect(isOwnLook({}, own)).toBe(false)
})
