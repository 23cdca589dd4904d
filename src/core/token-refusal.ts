/** Why a boot token does nothing; told in the log and in figures, never to who showed it. */
export const tokenRefusals = [
  /** No token at all. */
  'malformed',
  /** Not made here, or from an address that nothing is known of. */
  'forged',
  /** Made for this machine at another address (`boot.tokens.bind`). */
  'other-address',
  'expired',
  /** Good for something else. */
  'other-purpose',
  /** By an admin. */
  'revoked',
  /** The machine has begun a newer boot. */
  'superseded',
  /** Good, and there is nothing to fetch any more: the host is held, or has no config. */
  'nothing-to-fetch',
] as const

export type TokenRefusal = (typeof tokenRefusals)[number]
