import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstValue, parseQuery } from '../../../src/http/boot/query-string.ts'

test('pairs come in order, decoded once, repeated names kept', () => {
  expect(parseQuery('mac=a%3Ab&mac=c&serial=VMware-42%201d&x&=y&z=1=2')).toEqual([
    ['mac', 'a:b'],
    ['mac', 'c'],
    ['serial', 'VMware-42 1d'],
    ['x', ''],
    ['', 'y'],
    ['z', '1=2'],
  ])
  expect(parseQuery('a=%252e')).toEqual([['a', '%2e']])
  expect(parseQuery('')).toEqual([])
})

test('a plus is a plus: iPXE escapes blanks as %20', () => {
  expect(parseQuery('serial=AB+12')).toEqual([['serial', 'AB+12']])
})

test('escapes that are no UTF-8 or no escapes at all do not lose the value', () => {
  expect(parseQuery('a=%e4bc&b=50%&c=%zz')).toEqual([
    ['a', '\u00e4bc'],
    ['b', '50%'],
    ['c', '%zz'],
  ])
})

test('the first value that says something counts', () => {
  const pairs = parseQuery('uuid=&uuid=x&uuid=y')
  expect(firstValue(pairs, 'uuid')).toBe('x')
  expect(firstValue(pairs, 'serial')).toBeUndefined()
})

test('pairs beyond the bound are ignored', () => {
  expect(parseQuery('a=1&'.repeat(5000))).toHaveLength(64)
})

test('never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (query) => {
      expect(Array.isArray(parseQuery(query))).toBe(true)
    }),
  )
})
