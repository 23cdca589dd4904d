import { expect, test } from 'vitest'
import { parseMac } from '../../src/core/mac.ts'
import { isProbeMac, probeMac } from '../../src/core/probe-mac.ts'

test('the machine that the doctor makes up is a machine like any other, and known as made up', () => {
  const mac = probeMac('a0ff')
  expect(parseMac(mac)).toBe('02:70:69:6c:a0:ff')
  expect(isProbeMac(mac)).toBe(true)
})

test('real ones are not', () => {
  for (const text of ['52:54:00:ab:cd:ef', '02:70:69:6d:00:01', '02:50:00:00:00:01']) {
    const mac = parseMac(text)
    expect(mac !== undefined && isProbeMac(mac), text).toBe(false)
  }
})
