import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxTargetLength, parseRequestTarget } from '../../../src/http/boot/request-target.ts'

function segmentsOf(target: string): readonly string[] | string {
  const parsed = parseRequestTarget(target)
  return parsed.kind === 'path' ? parsed.segments : `${parsed.status} ${parsed.reason}`
}

describe('paths that name something', () => {
  test.each([
    ['/boot.ipxe', ['boot.ipxe']],
    ['//boot.ipxe', ['boot.ipxe']],
    ['///streams//fcos-stable.json', ['streams', 'fcos-stable.json']],
    ['/./boot.ipxe', ['boot.ipxe']],
    ['/boot.ipxe/', ['boot.ipxe']],
    ['/%62oot%2Eipxe', ['boot.ipxe']],
    [
      '/artifacts/ab/fedora-coreos-44.20260707.3.1-live-kernel.x86_64',
      ['artifacts', 'ab', 'fedora-coreos-44.20260707.3.1-live-kernel.x86_64'],
    ],
    ['/', []],
  ])('%s is read', (target, segments) => {
    expect(segmentsOf(target)).toEqual(segments)
  })

  test('the query is everything after the first question mark, as it came', () => {
    expect(parseRequestTarget('/ipxe?mac=a%3Ab&x=?')).toEqual({
      kind: 'path',
      segments: ['ipxe'],
      query: 'mac=a%3Ab&x=?',
    })
  })

  test('absolute-form, as proxies send it, is read without its authority', () => {
    expect(segmentsOf('http://evil.example:99/boot.ipxe')).toEqual(['boot.ipxe'])
    expect(segmentsOf('HTTP://[2001:db8::1]/a//b?c')).toEqual(['a', 'b'])
    expect(segmentsOf('http://192.0.2.10')).toEqual([])
    expect(segmentsOf('http://user@host/../etc/passwd')).toMatch(/^400/)
  })
})

describe('paths that climb or hide something (field case 75)', () => {
  test.each([
    '/../x',
    '/..',
    '/..\\x',
    '/a/../../x',
    '/../data-private/key',
    '/%2e%2e%2f',
    '/%2e%2e/x',
    '/.%2E/x',
    '/%252e%252e/x',
    '/a%2fb',
    '/a%5cb',
    '/a\\b',
    '/a%00',
    '/boot.ipxe%00.efi',
    '/a%0d%0aSet-Cookie:x',
    '/a%',
    '/a%zz',
    '/a%e4',
    '/a b',
    '/a\u0001b',
    '/a\u00ffb',
    '/a<b>',
    '/a#fragment',
    '*',
    '',
    'boot.ipxe',
    'a/../../x',
    'ftp://host/x',
  ])('%s is refused', (target) => {
    expect(segmentsOf(target)).toMatch(/^400 /)
  })

  test('four dots are a plain name, which nothing here has', () => {
    expect(segmentsOf('/....//x')).toEqual(['....', 'x'])
  })
})

describe('bounds', () => {
  test('a target of 8 KiB is read, a longer one is 414 (field case 121)', () => {
    const query = 'x'.repeat(maxTargetLength - '/ipxe?'.length)
    expect(segmentsOf(`/ipxe?${query}`)).toEqual(['ipxe'])
    expect(segmentsOf(`/ipxe?${query}x`)).toMatch(/^414 /)
  })

  test('too many parts and too long a part are refused', () => {
    expect(segmentsOf('/a'.repeat(16))).toHaveLength(16)
    expect(segmentsOf('/a'.repeat(17))).toMatch(/^400 /)
    expect(segmentsOf(`/${'a'.repeat(256)}`)).toMatch(/^400 /)
  })

  test('whatever the bytes, the outcome is a refusal or parts that are safe names', () => {
    const bytes = fc.string({
      unit: fc.constantFrom(...'/.%\\?#:ab2efc0515 \u0000\u00ff\r\n~'),
      maxLength: 60,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          bytes,
          bytes.map((text) => `/${text}`),
        ),
        (target) => {
          const parsed = parseRequestTarget(target)
          if (parsed.kind === 'refused') return
          for (const segment of parsed.segments) {
            expect(segment).toMatch(/^[A-Za-z0-9._~:@!$&'()*+,;=-]+$/)
            expect(['.', '..']).not.toContain(segment)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})
