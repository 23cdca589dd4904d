import { expect, test } from 'vitest'
import { exitCodeOf, exitCodeOfReport, exitCodes } from '../../src/cli/exit-codes.ts'
import { errorTexts, ServiceError } from '../../src/core/errors.ts'

test('every error code has an exit code from the documented set', () => {
  expect(Object.keys(exitCodes).sort()).toEqual(Object.keys(errorTexts).sort())
  for (const code of Object.values(exitCodes)) expect([1, 2, 69, 75, 77, 78]).toContain(code)
})

test.each([
  ['USAGE', 2],
  ['UPSTREAM_UNREACHABLE', 69],
  ['METADATA_UNAVAILABLE', 69],
  ['SERVICE_UNAVAILABLE', 69],
  ['DATA_DIRECTORY_LOCKED', 75],
  ['PERMISSION_DENIED', 77],
  ['FORBIDDEN', 77],
  ['CONFIG_INVALID', 78],
  ['CONFIG_UNREADABLE', 78],
  ['NOT_FOUND', 2],
  ['ARTIFACT_DIGEST_MISMATCH', 1],
] as const)('%s exits with %d', (code, expected) => {
  expect(exitCodeOf(new ServiceError(code))).toBe(expected)
  expect(exitCodeOfReport(code)).toBe(expected)
})

test('what the system refused for lack of permission is 77, also deep in the causes', () => {
  const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  const wrapped = new Error('opening', { cause: denied })
  expect(exitCodeOf(new ServiceError('DATA_DIRECTORY_UNUSABLE', undefined, {}, wrapped))).toBe(77)
  expect(exitCodeOf(new ServiceError('CONFIG_UNREADABLE', undefined, {}, denied))).toBe(77)
  expect(exitCodeOf(new ServiceError('LISTEN_FAILED', undefined, {}, denied))).toBe(77)
})

test('a connection that a firewall refused is still unavailable, not a permission', () => {
  const denied = Object.assign(new Error('connect EACCES'), { code: 'EACCES' })
  expect(exitCodeOf(new ServiceError('UPSTREAM_UNREACHABLE', undefined, {}, denied))).toBe(69)
})

test('anything else that is thrown is 1', () => {
  expect(exitCodeOf(new TypeError('x'))).toBe(1)
  expect(exitCodeOf('text')).toBe(1)
  expect(exitCodeOfReport(undefined)).toBe(1)
  expect(exitCodeOfReport('toString')).toBe(1)
})
