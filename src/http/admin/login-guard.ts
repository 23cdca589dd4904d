import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import type { Clock } from '../../core/clock.ts'

/** Bounds how often an address may come with a credential that does not count. */
export interface LoginGuard {
  /** Seconds until this credential is looked at; 0: now. */
  waitSeconds(address: string, credential: string): number
  failed(address: string): void
  succeeded(address: string, credential: string): void
}

export interface LoginGuardOptions {
  readonly clock: Clock
  /** Failures in a row that nobody minds. */
  readonly burst?: number
  /** One more after each such time. */
  readonly everyMs?: number
  readonly mostAddresses?: number
}

interface Account {
  /** `everyMs` for each failure, less the time that has passed since. */
  debtMs: number
  at: number
  /** Digests of credentials that counted when they came from here, the newest last. */
  readonly good: Set<string>
}

const mostGoodCredentials = 16

/**
 * A credential that counted before from the same address is looked at whatever others there do, so that a forgotten
 * script with an old token does not lock out its neighbours; every other one waits. Bounded: when too many addresses
 * are remembered, the one that was quiet for longest is forgotten.
 */
export function createLoginGuard({
  clock,
  burst = 10,
  everyMs = 6_000,
  mostAddresses = 10_000,
}: LoginGuardOptions): LoginGuard {
  const accounts = new Map<string, Account>()

  function accountOf(address: string): Account {
    const key = networkOf(address)
    const account = accounts.get(key) ?? { debtMs: 0, at: clock.now(), good: new Set() }
    accounts.delete(key)
    if (accounts.size >= mostAddresses) {
      const [oldest] = accounts.keys()
      if (oldest !== undefined) accounts.delete(oldest)
    }
    accounts.set(key, account)
    return account
  }

  function debtNow({ debtMs, at }: Account): number {
    // A clock that was set back makes nothing good, and nothing worse.
    return Math.max(0, debtMs - Math.max(0, clock.now() - at))
  }

  return {
    waitSeconds(address, credential) {
      const account = accounts.get(networkOf(address))
      if (account === undefined || account.good.has(digestOf(credential))) return 0
      return Math.ceil(Math.max(0, debtNow(account) - (burst - 1) * everyMs) / 1000)
    },
    failed(address) {
      const account = accountOf(address)
      account.debtMs = Math.min(burst * everyMs, debtNow(account) + everyMs)
      account.at = clock.now()
    },
    succeeded(address, credential) {
      const { good } = accountOf(address)
      const digest = digestOf(credential)
      good.delete(digest)
      good.add(digest)
      const [oldest] = good
      if (good.size > mostGoodCredentials && oldest !== undefined) good.delete(oldest)
    },
  }
}

/** Whoever has one IPv6 address has 2^64 of them: they count as one (RFC 6177 §2 gives a site at least a /64). */
function networkOf(address: string): string {
  const mapped = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  if (isIPv4(mapped)) return mapped
  const [head = '', tail] = (mapped.split('%', 1)[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}/64`
}

/** Secrets are not kept, not even here. */
function digestOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64')
}
