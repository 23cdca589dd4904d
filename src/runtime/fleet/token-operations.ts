import { suggestion } from '../../config/suggest.ts'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ApiTokenRecord, FleetChange } from '../../core/fleet.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { TokenSummary } from '../../http/admin/schemas/fleet.ts'
import { countsAt, mintCredential, recordOf } from './api-credential.ts'
import { auditEntry } from './audit-entry.ts'
import type { ChangeQueue } from './change-queue.ts'
import { endOf } from './end-of.ts'
import type { FleetMemory } from './fleet-memory.ts'
import { compareText } from './page-of.ts'
import { iso, isoIfAny } from './times.ts'

const usualLife = '90d'
/** Tokens that count at one time: a script that makes one a minute is stopped before it fills the store. */
const mostTokens = 1_000
/** Those that ended stay listed for so long. */
const keptAfterEndMs = 90 * 24 * 60 * 60 * 1000
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,62}$/

export function createTokenOperations(options: {
  readonly queue: ChangeQueue
  readonly memory: FleetMemory
  readonly clock: Clock
  readonly randomBytes: (size: number) => Uint8Array
}): Pick<FleetOperations, 'listTokens' | 'createToken' | 'revokeToken' | 'authenticate'> {
  const { queue, memory, clock, randomBytes } = options
  /** In memory alone: writing at each request would cost a sync of the disk. */
  const lastUsedAt = new Map<string, number>()

  function summaryOf(token: ApiTokenRecord): TokenSummary {
    const { id, name, role, createdAt, createdBy, expiresAt, revokedAt } = token
    return {
      id,
      name,
      role,
      createdAt: iso(createdAt),
      createdBy,
      expiresAt: isoIfAny(expiresAt),
      revokedAt: isoIfAny(revokedAt),
      lastUsedAt: isoIfAny(lastUsedAt.get(id)),
    }
  }

  function counting(now: number): readonly ApiTokenRecord[] {
    return [...memory.tokens.values()].filter((token) => countsAt(token, now))
  }

  function longOver(now: number): readonly FleetChange[] {
    return [...memory.tokens.values()]
      .filter(({ revokedAt, expiresAt }) => (revokedAt ?? expiresAt ?? now) + keptAfterEndMs < now)
      .map(({ id }) => ({ remove: 'token', id }))
  }

  return {
    async listTokens() {
      return [...memory.tokens.values()]
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id))
        .map(summaryOf)
    },

    createToken: (body, change) =>
      queue.change(() => {
        const now = clock.now()
        const { name, role, until = usualLife, reason } = body
        const taken = counting(now)
        if (!namePattern.test(name)) throw badName(name)
        if (taken.some((token) => token.name === name)) throw nameTaken(name)
        if (taken.length >= mostTokens) throw tooMany()
        const { id, hash, text } = mintCredential(randomBytes)
        const token: ApiTokenRecord = {
          id,
          name,
          role,
          hash,
          createdAt: now,
          createdBy: change.actor.by,
          expiresAt: endOf(until, now),
        }
        return {
          changes: [...longOver(now), { put: 'token', token }],
          audit: [
            auditEntry(change, now, {
              action: 'token.create',
              target: `token/${name}`,
              summary: `token ${name} (${id}) may ${role} until ${isoIfAny(token.expiresAt)}`,
              reason,
            }),
          ],
          // Nothing that was only tried out opens anything, so its secret is not told.
          answer: () => ({
            token: summaryOf(token),
            secret: change.dryRun === true ? 'not made: this was a dry run' : text,
          }),
        }
      }, change),

    revokeToken: (id, change) =>
      queue.change(() => {
        const now = clock.now()
        const token = memory.tokens.get(id)
        if (token === undefined) throw noSuchToken(id, memory)
        if (token.revokedAt !== undefined) return { changes: [], audit: [], answer: () => summaryOf(token) }
        const revoked: ApiTokenRecord = { ...token, revokedAt: now }
        return {
          changes: [{ put: 'token', token: revoked }],
          audit: [
            auditEntry(change, now, {
              action: 'token.revoke',
              target: `token/${token.name}`,
              summary: `token ${token.name} (${id}) counts no more`,
              reason: change.reason,
            }),
          ],
          answer: () => summaryOf(revoked),
        }
      }, change),

    authenticate(bearer) {
      const now = clock.now()
      const token = recordOf(bearer, memory.tokens, now)
      if (token === undefined) return undefined
      lastUsedAt.set(token.id, now)
      return { actor: { by: `token ${token.name}`, via: 'api' }, role: token.role }
    },
  }
}

function badName(name: string): ServiceError {
  return new ServiceError('USAGE', `${JSON.stringify(name)} cannot be the name of a token`, {
    field: 'name',
    hint: 'allowed: at most 63 letters, digits, ".", "_", "@", "+" and "-", beginning with a letter or digit',
  })
}

function nameTaken(name: string): ServiceError {
  return new ServiceError('CONFLICT', `a token named ${name} counts already`, {
    field: 'name',
    hint: 'choose another name, or revoke that one first',
  })
}

function tooMany(): ServiceError {
  return new ServiceError('CONFLICT', `there are ${mostTokens} tokens that count, and no more may be made`, {
    hint: 'revoke those that nobody uses',
  })
}

function noSuchToken(id: string, { tokens }: FleetMemory): ServiceError {
  const named = [...tokens.values()].filter(({ name }) => name === id)
  const hint =
    named.length > 0
      ? `tokens are revoked by their id: ${named.map((token) => token.id).join(', ')}`
      : suggestion(id, tokens.keys())
  return new ServiceError('NOT_FOUND', `there is no token ${id}`, { field: 'id', ...(hint && { hint }) })
}
