import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBootTokens, type TokenClaims, type TokenQuestion } from '../../src/boot/boot-tokens.ts'
import { createHostMarks, hostMark } from '../../src/boot/host-marks.ts'
import type { BootId } from '../../src/core/boot-event.ts'
import type { MacAddress } from '../../src/core/mac.ts'

const key = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const tokens = createBootTokens(key)
const bootId = 'AAECAwQFBgcICQoLDA0ODw' as BootId
const issuedAt = Date.UTC(2026, 10, 30)
const claims: TokenClaims = {
  purpose: 'live',
  subject: { kind: 'host', id: 'rack1-n01' },
  bootId,
  issuedAt,
  lifeMs: 3_600_000,
}
const hosts = createHostMarks(() => ({
  hostsById: new Map([
    ['rack1-n01', {}],
    ['rack1-n02', {}],
  ]),
}))
const question: TokenQuestion = {
  purposes: ['live'],
  address: '192.0.2.50',
  now: issuedAt + 1,
  hostsOf: hosts.hostsOf,
}
const mac = '52:54:00:ab:cd:ef' as MacAddress

describe('boot tokens', () => {
  it('have one length and the layout that is written down', () => {
    const bytes = Buffer.from(tokens.mint(claims), 'base64url')
    expect(bytes.length).toBe(48)
    expect(bytes.subarray(0, 32).toString('hex')).toBe(
      [
        '10', // version 1, purpose live
        '01', // a host, any address
        '01a229c05400', // 2026-11-30T00:00:00.000Z
        '003c', // 60 minutes
        hostMark('rack1-n01').toString(16).padStart(12, '0'),
        '000102030405060708090a0b0c0d0e0f', // boot id
      ].join(''),
    )
    const unknown = tokens.mint({ ...claims, purpose: 'report', subject: { kind: 'mac', mac }, address: 'a' })
    const said = Buffer.from(unknown, 'base64url')
    expect(said.subarray(0, 2).toString('hex')).toBe('1406')
    expect(said.subarray(10, 16).toString('hex')).toBe('525400abcdef')
    expect(unknown).toMatch(/^[A-Za-z0-9_-]{64}$/)
  })

  it.each<TokenClaims>([
    claims,
    { ...claims, address: '192.0.2.50' },
    { ...claims, subject: { kind: 'mac', mac } },
    { ...claims, subject: { kind: 'nobody' } },
  ])('say to their owner what they were minted for: %j', (given) => {
    expect(tokens.open(tokens.mint(given), question)).toEqual({ kind: 'good', claims: given })
  })

  it('G12: any flipped bit is refused', () => {
    const bytes = Buffer.from(tokens.mint({ ...claims, address: '192.0.2.50' }), 'base64url')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 48 * 8 - 1 }), (bit) => {
        const other = Buffer.from(bytes)
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(tokens.open(other.toString('base64url'), question)).toEqual({
          kind: 'refused',
          fault: 'forged',
        })
      }),
      { numRuns: 384 },
    )
  })

  it('G12: any other text is refused and throws nothing', () => {
    const odd = fc.oneof(
      fc.string(),
      fc.base64String({ minLength: 64, maxLength: 64 }),
      fc.stringMatching(/^[A-Za-z0-9_-]{64}$/),
    )
    fc.assert(
      fc.property(odd, (text) => {
        expect(tokens.open(text, question).kind).toBe('refused')
      }),
    )
  })

  it('G12: a token of one purpose is good for no other', () => {
    const report = tokens.mint({ ...claims, purpose: 'report' })
    expect(tokens.open(report, question)).toMatchObject({ kind: 'refused', fault: 'other-purpose' })
    expect(tokens.open(tokens.mint(claims), { ...question, purposes: ['report'] })).toMatchObject({
      fault: 'other-purpose',
    })
    expect(tokens.open(tokens.mint(claims), { ...question, purposes: ['installer'] })).toMatchObject({
      fault: 'other-purpose',
    })
  })

  it('G12: a token that is bound to an address is good from there alone', () => {
    const bound = tokens.mint({ ...claims, address: '192.0.2.50' })
    const stolen = { ...question, address: '192.0.2.51' }
    expect(tokens.open(bound, stolen)).toEqual({ kind: 'refused', fault: 'forged' })
    expect(tokens.open(bound, { ...stolen, answeredAt: () => '192.0.2.50' })).toMatchObject({
      kind: 'refused',
      fault: 'other-address',
      claims: { subject: { id: 'rack1-n01' } },
    })
    expect(tokens.open(bound, { ...stolen, answeredAt: () => '192.0.2.52' })).toMatchObject({
      fault: 'forged',
    })
    expect(tokens.open(tokens.mint(claims), { ...question, address: '192.0.2.51' }).kind).toBe('good')
  })

  it('are over when their life is, to the millisecond, and last 45 days at most', () => {
    const end = issuedAt + claims.lifeMs
    expect(tokens.open(tokens.mint(claims), { ...question, now: end - 1 }).kind).toBe('good')
    expect(tokens.open(tokens.mint(claims), { ...question, now: end })).toMatchObject({ fault: 'expired' })
    const long = tokens.mint({ ...claims, lifeMs: Number.MAX_SAFE_INTEGER })
    expect(tokens.open(long, question)).toMatchObject({ claims: { lifeMs: 65_535 * 60_000 } })
  })

  it('G12: the hash of a host id is not enough: two hosts with one mark are told apart', () => {
    const both = { ...question, hostsOf: () => ['rack1-n02', 'rack1-n01'] }
    expect(tokens.open(tokens.mint(claims), both)).toMatchObject({
      claims: { subject: { kind: 'host', id: 'rack1-n01' } },
    })
    const other = { ...question, hostsOf: () => ['rack1-n02'] }
    expect(tokens.open(tokens.mint(claims), other)).toEqual({ kind: 'refused', fault: 'forged' })
  })

  it('of a host that has gone are refused', () => {
    expect(tokens.open(tokens.mint(claims), { ...question, hostsOf: () => [] })).toEqual({
      kind: 'refused',
      fault: 'forged',
    })
  })

  it('G12: under another key nothing is good', () => {
    const strange = createBootTokens(Buffer.alloc(32, 7)).mint(claims)
    expect(tokens.open(strange, question)).toEqual({ kind: 'refused', fault: 'forged' })
  })
})

describe('marks of hosts', () => {
  it('find hosts that came later and leave out those that went', () => {
    let current = { hostsById: new Map<string, unknown>([['a', {}]]) }
    const marks = createHostMarks(() => current)
    expect(marks.hostsOf(hostMark('a'))).toEqual(['a'])
    expect(marks.hostsOf(hostMark('b'))).toEqual([])
    current = { hostsById: new Map([['b', {}]]) }
    expect(marks.hostsOf(hostMark('b'))).toEqual(['b'])
    expect(marks.hostsOf(hostMark('a'))).toEqual([])
  })
})
