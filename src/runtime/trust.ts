import type { StreamConfig } from '../config/config.ts'

/**
 * Whether signatures that were good by the old configuration may be bad by the new one: they are looked at now and
 * were not, or a key is trusted no longer. One more key leaves everything as it was. Pure.
 */
export function isTrustNarrower(before: StreamConfig | undefined, after: StreamConfig | undefined): boolean {
  if (before === undefined || after === undefined || after.signatures === 'off') return false
  if (before.signatures === 'off') return true
  const trusted = new Set(after.keys.map(({ text }) => text))
  return before.keys.some(({ text }) => !trusted.has(text))
}
