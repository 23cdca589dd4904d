import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import type { Actor, ApiRole } from '../../../core/fleet.ts'
import type { FleetOperations } from '../fleet-operations.ts'

/** Somebody who looks at the page, proven. */
export interface Visitor {
  readonly actor: Actor
  readonly role: ApiRole
  /** Every form of this session carries it; one without it is not ours. */
  readonly formToken: string
  /** What was done last, told once. */
  readonly notice: { take(): string | undefined; leave(text: string): void }
}

export interface Sessions {
  /** @returns the value of its cookie: 256 random bits */
  open(credential: string): string
  /** `undefined` for one that is unknown or over, or whose token does not count any more. */
  find(cookie: string): Visitor | undefined
  close(cookie: string): void
}

export interface SessionsOptions {
  readonly clock: Clock
  readonly randomBytes: (size: number) => Uint8Array
  readonly authenticate: FleetOperations['authenticate']
  /** Default: 12 hours. */
  readonly lifeMs?: number
  readonly most?: number
}

interface Session {
  readonly credential: string
  readonly formToken: string
  readonly endsAt: number
  notice?: string
}

export const sessionLifeMs = 12 * 60 * 60 * 1000

/**
 * Sessions of the page: in memory, so a restart ends them. A session is only as good as the API token behind it, which
 * is looked at again with every request. When there are too many, the oldest ends.
 */
export function createSessions({
  clock,
  randomBytes,
  authenticate,
  lifeMs = sessionLifeMs,
  most = 1_000,
}: SessionsOptions): Sessions {
  /** By the digest of the cookie, so that finding one tells nothing of another. */
  const sessions = new Map<string, Session>()

  function end(key: string): undefined {
    sessions.delete(key)
  }

  return {
    open(credential) {
      const cookie = text(randomBytes(32))
      const endsAt = clock.now() + lifeMs
      sessions.set(digestOf(cookie), { credential, formToken: text(randomBytes(32)), endsAt })
      const [oldest] = sessions.keys()
      if (sessions.size > most && oldest !== undefined) end(oldest)
      return cookie
    },
    find(cookie) {
      const key = digestOf(cookie)
      const session = sessions.get(key)
      if (session === undefined) return undefined
      const now = clock.now()
      // A clock that was set back makes no session longer than it was made for.
      if (now >= session.endsAt || session.endsAt - now > lifeMs) return end(key)
      const proven = authenticate(session.credential)
      if (proven === undefined) return end(key)
      return {
        actor: { ...proven.actor, via: 'page' },
        role: proven.role,
        formToken: session.formToken,
        notice: {
          take() {
            const { notice } = session
            delete session.notice
            return notice
          },
          leave(notice) {
            session.notice = notice
          },
        },
      }
    },
    close(cookie) {
      end(digestOf(cookie))
    },
  }
}

/** Compares secrets in a time that tells nothing of them. */
export function isSameSecret(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false
  const digest = (value: string) => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

function digestOf(cookie: string): string {
  return createHash('sha256').update(cookie).digest('base64')
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
