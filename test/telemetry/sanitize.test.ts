import { expect, test } from 'vitest'
import { ServiceError } from '../../src/core/errors.ts'
import { sanitizeFields, sanitizeText, sanitizeValue } from '../../src/telemetry/sanitize.ts'

test('credentials in URLs never reach a log', () => {
  expect(sanitizeText('fetching https://user:pa%20ss@mirror.example/fcos/')).toBe(
    'fetching https://[redacted]@mirror.example/fcos/',
  )
  expect(sanitizeText('https://s3.example/k?X-Amz-Signature=abc&part=1')).toBe(
    'https://s3.example/k?X-Amz-Signature=[redacted]&part=1',
  )
})

test('G12 boot tokens in paths never reach a log', () => {
  expect(sanitizeText('GET /ignition/AbC_-123.xyz HTTP/1.1')).toBe('GET /ignition/[redacted] HTTP/1.1')
  expect(sanitizeText('http://192.0.2.1:8080/report/AbC123?x=1')).toBe(
    'http://192.0.2.1:8080/report/[redacted]?x=1',
  )
})

test('text in which there is nothing to hide comes out as it is, and what hides in it does not', () => {
  const plain = 'follows stream fcos-stable: current is 44.20260707.3.1 (host rack1/n01, 52:54:00:ab:cd:ef)'
  expect(sanitizeText(plain)).toBe(plain)
  expect(sanitizeText(`${plain} /report/AbC123`)).toBe(`${plain} /report/[redacted]`)
  expect(sanitizeText(`${plain} x/ignition/AbC123/y`)).toBe(`${plain} x/ignition/[redacted]/y`)
  expect(sanitizeText(`${plain}\n`)).toBe(`${plain}\\x0a`)
})

test('fields with secret names are redacted whatever they hold, others are kept', () => {
  expect(
    sanitizeFields({
      Authorization: 'Bearer x',
      headers: { 'set-cookie': ['a'], 'x-auth-token': 'y', accept: '*/*' },
      adminPassword: 'z',
      tokenized: 'kept',
    }),
  ).toEqual({
    Authorization: '[redacted]',
    headers: { 'set-cookie': '[redacted]', 'x-auth-token': '[redacted]', accept: '*/*' },
    adminPassword: '[redacted]',
    tokenized: 'kept',
  })
})

test('a known error is code, message and details without a stack', () => {
  const error = new ServiceError('UPSTREAM_UNREACHABLE', 'nothing answered at \u001b[2J', {
    url: 'http://a:b@c/',
  })
  expect(sanitizeValue({ err: error })).toEqual({
    err: {
      type: 'ServiceError',
      code: 'UPSTREAM_UNREACHABLE',
      message: 'nothing answered at \\x1b[2J',
      details: { url: 'http://[redacted]@c/' },
    },
  })
})

test('an unexpected error keeps its stack and its cause', () => {
  const error = new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'EIO' }) })
  const { stack, cause } = sanitizeValue(error) as {
    stack: string[]
    cause: { code: string; message: string }
  }
  expect(stack[0]).toMatch(/^at /)
  expect(cause).toMatchObject({ code: 'EIO', message: 'inner' })
})

test('huge, deep and circular values are bounded', () => {
  const circular: Record<string, unknown> = { list: Array.from({ length: 500 }, (_, index) => index) }
  circular.self = circular
  const text = JSON.stringify(
    sanitizeFields({ circular, text: 'x'.repeat(1_000_000), bytes: Buffer.alloc(9000) }),
  )
  expect(text).toContain('[400 more]')
  expect(text).toContain('[deeper]')
  expect(text).toContain('[9000 bytes]')
  expect(text.length).toBeLessThan(20_000)
})

test('maps, sets, dates, big numbers and URLs become plain data', () => {
  expect(
    sanitizeValue({
      map: new Map([['a', 1]]),
      set: new Set(['b']),
      date: new Date(0),
      big: 10n,
      url: new URL('http://u:p@h/'),
      nothing: null,
    }),
  ).toEqual({
    map: { a: 1 },
    set: ['b'],
    date: '1970-01-01T00:00:00.000Z',
    big: '10',
    url: 'http://[redacted]@h/',
    nothing: null,
  })
})
