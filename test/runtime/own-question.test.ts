import { expect, test } from 'vitest'
import { parseMac } from '../../src/core/mac.ts'
import { probeMac } from '../../src/core/probe-mac.ts'
import { isOwnQuestion } from '../../src/runtime/own-question.ts'

const entry = { type: 'entry-sent', at: 0, name: 'boot.ipxe', address: '192.0.2.1' } as const

test('what the doctor asks is no boot; what machines ask is', () => {
  expect(isOwnQuestion({ ...entry, mac: probeMac('a0ff') })).toBe(true)
  const mac = parseMac('52:54:00:ab:cd:ef')
  expect(isOwnQuestion({ ...entry, ...(mac !== undefined && { mac }) })).toBe(false)
  expect(isOwnQuestion(entry)).toBe(false)
})
