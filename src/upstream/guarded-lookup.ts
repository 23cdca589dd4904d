import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type AddressKind, addressRefusal } from './address-rules.ts'

/** Resolves a name to all of its addresses; `dns.lookup` in production. */
export type Resolver = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A name that has none but addresses which we do not connect to unasked. */
export class AddressRefusedError extends Error {
  readonly hostname: string
  readonly address: string
  readonly kind: string

  constructor(hostname: string, address: string, kind: string) {
    super(`${hostname} has the ${kind} address ${address}`)
    this.hostname = hostname
    this.address = address
    this.kind = kind
  }
}

/**
 * A `lookup` for sockets that leaves refused addresses out. Judging at the moment of connecting, on the very
 * addresses that are used, is what a name that answers differently the second time cannot get around (field case 163).
 * A name with both kinds of address is reached by the allowed ones: hosts announced by mDNS have link-local ones too.
 */
export function guardedLookup(
  resolve: Resolver = lookup,
  refusalOf: (address: string) => AddressKind | undefined = addressRefusal,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const allowed = addresses.filter(({ address }) => refusalOf(address) === undefined)
      const [first] = allowed
      if (first === undefined) return callback(refusal(hostname, addresses, refusalOf), '')
      if (options.all) return callback(null, allowed)
      return callback(null, first.address, first.family)
    })
  }
}

function refusal(
  hostname: string,
  addresses: readonly LookupAddress[],
  refusalOf: (address: string) => AddressKind | undefined,
): Error {
  const address = addresses[0]?.address
  if (address === undefined) return new Error(`${hostname} has no address`)
  return new AddressRefusedError(hostname, address, refusalOf(address) ?? 'refused')
}
