import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiTokenRecord } from '../../core/fleet.ts'

const idLength = 12
const secretLength = 43
/** `plt_<id>_<secret>`; both parts may hold `_`, so places decide. */
const pattern = new RegExp(`^plt_[A-Za-z0-9_-]{${idLength}}_[A-Za-z0-9_-]{${secretLength}}$`)
const nobody = Buffer.alloc(32)

/** A new credential: 72 random bits name it, 256 are its secret. */
export function mintCredential(randomBytes: (size: number) => Uint8Array): {
  readonly id: string
  readonly hash: string
  /** Told once, kept nowhere. */
  readonly text: string
} {
  const id = Buffer.from(randomBytes(9)).toString('base64url')
  const secret = Buffer.from(randomBytes(32)).toString('base64url')
  return { id, hash: digestOf(secret).toString('hex'), text: `plt_${id}_${secret}` }
}

/**
 * The token that this text is, if it counts now. The same work is done for any text, so that time tells neither whether
 * a token is known nor how much of a secret is right.
 */
export function recordOf(
  text: string,
  tokens: ReadonlyMap<string, ApiTokenRecord>,
  now: number,
): ApiTokenRecord | undefined {
  const isWellFormed = pattern.test(text)
  const record = isWellFormed ? tokens.get(text.slice(4, 4 + idLength)) : undefined
  const given = digestOf(isWellFormed ? text.slice(-secretLength) : '')
  const kept = record === undefined ? nobody : Buffer.from(record.hash, 'hex')
  const isRight = kept.length === given.length && timingSafeEqual(kept, given)
  return record !== undefined && isRight && countsAt(record, now) ? record : undefined
}

export function countsAt({ revokedAt, expiresAt }: ApiTokenRecord, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
