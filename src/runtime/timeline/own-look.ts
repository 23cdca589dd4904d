import { networkInterfaces } from 'node:os'
import type { BootAttempt } from '../../core/boot-attempt.ts'

/**
 * Whether somebody on this machine looked at what machines fetch, as `pilotlight doctor` and `curl` do: it never said a
 * card, and came from an address of our own. It is listed, and counts as no boot that failed.
 */
export function isOwnLook(
  { mac, host, address }: Pick<BootAttempt, 'mac' | 'host' | 'address'>,
  ownAddresses: () => ReadonlySet<string> = addressesOfThisMachine,
): boolean {
  return mac === undefined && host === undefined && address !== undefined && ownAddresses().has(address)
}

function addressesOfThisMachine(): ReadonlySet<string> {
  const entries = Object.values(networkInterfaces()).flatMap((list = []) => list)
  return new Set(entries.map(({ address }) => address))
}
