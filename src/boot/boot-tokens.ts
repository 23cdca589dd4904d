import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { type BootId, parseBootId } from '../core/boot-event.ts'
import { type MacAddress, macFromBytes } from '../core/mac.ts'
import type { TokenRefusal } from '../core/token-refusal.ts'
import { hostMark } from './host-marks.ts'

/**
 * What a token is good for: the Ignition config of the system that runs from RAM, of the one that is installed (by the
 * installer of old, which takes Ignition 2: `legacy`), that of the live system which installs, or a report. A token of
 * one purpose does nothing for another.
 */
export const tokenPurposes = ['live', 'installed', 'legacy', 'installer', 'report'] as const
export type TokenPurpose = (typeof tokenPurposes)[number]

/** Whom a token belongs to: a host, an unknown machine by its MAC, or one that told nothing, whose boot alone it names. */
export type TokenSubject =
  | { readonly kind: 'host'; readonly id: string }
  | { readonly kind: 'mac'; readonly mac: MacAddress }
  | { readonly kind: 'nobody' }

/** What a token says. */
export interface TokenClaims {
  readonly purpose: TokenPurpose
  readonly subject: TokenSubject
  readonly bootId: BootId
  /** Ms since the epoch. */
  readonly issuedAt: number
  /** Counted in whole minutes, up to 45 days. */
  readonly lifeMs: number
  /** Only who asks from there is answered. */
  readonly address?: string
}

export type TokenFault = Extract<
  TokenRefusal,
  'malformed' | 'forged' | 'other-address' | 'expired' | 'other-purpose'
>

export type OpenedToken =
  | { readonly kind: 'good'; readonly claims: TokenClaims }
  /** `claims` only where the token is ours, whatever else is wrong with it. */
  | { readonly kind: 'refused'; readonly fault: TokenFault; readonly claims?: TokenClaims }

export interface TokenQuestion {
  /** What it is shown for. */
  readonly purposes: readonly TokenPurpose[]
  /** Who asks. */
  readonly address: string
  /** Ms since the epoch. */
  readonly now: number
  /** Ids of the hosts with this mark: one, none, or by chance several. */
  readonly hostsOf: (mark: number) => readonly string[]
  /** Where this machine was answered, as far as is known: tells a stolen token from a made-up one. */
  readonly answeredAt?: (subject: TokenSubject) => string | undefined
}

/** Characters of a token. */
export const tokenLength = 64

const pattern = /^[A-Za-z0-9_-]{64}$/
const version = 1
const signedBytes = 32
const tokenBytes = 48
const subjectKinds = ['nobody', 'host', 'mac'] as const
const isBoundFlag = 4
const minuteMs = 60_000
const longestLifeMinutes = 0xffff

/**
 * Tokens for what nodes fetch and tell, without a trace anywhere (DESIGN §8). 48 bytes as URL-safe text:
 *
 *     0      version in the high four bits, purpose in the low four
 *     1      bits 0-1: kind of subject, bit 2: bound to an address
 *     2-7    issued at, ms since the epoch
 *     8-9    life in minutes
 *     10-15  mark of the host, or the MAC
 *     16-31  boot id
 *     32-47  HMAC-SHA-256 over all of it, the full host id and the address, cut to 128 bits
 *
 * @param key from the state store, so that a restarted service and a second one know its tokens
 */
export function createBootTokens(key: Uint8Array) {
  // At half the cost of bytes, which are taken in anew for each code.
  const secret = createSecretKey(key)

  function codeOf(signed: Uint8Array, subject: string, address: string): Buffer {
    const hmac = createHmac('sha256', secret).update(signed)
    // Neither a host id nor an address has a NUL, so no two pairs read the same.
    return hmac
      .update(`\0${subject}\0${address}`)
      .digest()
      .subarray(0, tokenBytes - signedBytes)
  }

  function mint(claims: TokenClaims): string {
    const { purpose, subject, bootId, issuedAt, lifeMs, address } = claims
    const bytes = Buffer.alloc(tokenBytes)
    bytes[0] = (version << 4) | tokenPurposes.indexOf(purpose)
    bytes[1] = subjectKinds.indexOf(subject.kind) | (address === undefined ? 0 : isBoundFlag)
    bytes.writeUIntBE(issuedAt, 2, 6)
    bytes.writeUInt16BE(Math.min(longestLifeMinutes, Math.ceil(lifeMs / minuteMs)), 8)
    if (subject.kind === 'host') bytes.writeUIntBE(hostMark(subject.id), 10, 6)
    if (subject.kind === 'mac') bytes.write(subject.mac.replaceAll(':', ''), 10, 6, 'hex')
    bytes.write(bootId, 16, 16, 'base64url')
    codeOf(bytes.subarray(0, signedBytes), subjectText(subject), address ?? '').copy(bytes, signedBytes)
    return bytes.toString('base64url')
  }

  /** Every answer costs the same: two HMACs over what was given, whatever is wrong with it. */
  function open(text: string, question: TokenQuestion): OpenedToken {
    const isWellFormed = pattern.test(text)
    const bytes = isWellFormed ? Buffer.from(text, 'base64url') : Buffer.alloc(tokenBytes)
    const isBound = ((bytes[1] ?? 0) & isBoundFlag) !== 0
    const signed = bytes.subarray(0, signedBytes)
    const code = bytes.subarray(signedBytes)
    const subjects = subjectsOf(bytes, question)
    const madeFor = (addressOf: (subject: TokenSubject) => string) =>
      subjects.find((candidate) => {
        const address = isBound ? addressOf(candidate) : ''
        return timingSafeEqual(code, codeOf(signed, subjectText(candidate), address))
      })
    const asking = madeFor(() => question.address)
    const elsewhere = madeFor((subject) => question.answeredAt?.(subject) ?? '')
    const subject = asking ?? elsewhere
    if (!isWellFormed) return { kind: 'refused', fault: 'malformed' }
    const head = bytes[0] ?? 0
    const purpose = tokenPurposes[head & 15]
    const bootId = parseBootId(bytes.toString('base64url', 16, 32))
    if (subject === undefined || purpose === undefined || bootId === undefined || head >> 4 !== version) {
      return { kind: 'refused', fault: 'forged' }
    }
    const claims: TokenClaims = {
      purpose,
      subject,
      bootId,
      issuedAt: bytes.readUIntBE(2, 6),
      lifeMs: bytes.readUInt16BE(8) * minuteMs,
      ...(isBound ? { address: question.address } : {}),
    }
    if (asking === undefined) return { kind: 'refused', fault: 'other-address', claims }
    if (!question.purposes.includes(purpose)) return { kind: 'refused', fault: 'other-purpose', claims }
    if (question.now >= claims.issuedAt + claims.lifeMs) return { kind: 'refused', fault: 'expired', claims }
    return { kind: 'good', claims }
  }

  return { mint, open }
}

export type BootTokens = ReturnType<typeof createBootTokens>

/** Whose token it may be; never empty, so that nothing is answered without an HMAC. */
function subjectsOf(bytes: Buffer, { hostsOf }: TokenQuestion): readonly TokenSubject[] {
  const kind = subjectKinds[(bytes[1] ?? 0) & 3]
  const mark = bytes.readUIntBE(10, 6)
  const hosts = kind === 'host' ? hostsOf(mark).map((id): TokenSubject => ({ kind, id })) : []
  if (hosts.length > 0) return hosts
  const mac = kind === 'mac' ? macFromBytes(bytes.subarray(10, 16)) : undefined
  if (mac !== undefined) return [{ kind: 'mac', mac }]
  // Also for a host that is not there, whose tokens are none of nobody's.
  return [{ kind: 'nobody' }]
}

function subjectText(subject: TokenSubject): string {
  switch (subject.kind) {
    case 'host':
      return `host ${subject.id}`
    case 'mac':
      return `mac ${subject.mac}`
    case 'nobody':
      return ''
  }
}
