import { type MacAddress, macFromBytes, parseMac } from '../core/mac.ts'
import { optionCode } from './option-codes.ts'
import { findOption } from './options.ts'
import type { DhcpPacket } from './packet.ts'

declare const clientKeyBrand: unique symbol
/**
 * Names a client for leases and memories: its MAC where it has one, else `hw/<type>/<hex>` or, where there is no hardware
 * address at all (InfiniBand), `id/<hex>`. Never the client id of a machine with an address: firmware, iPXE and the OS
 * each send another, and would get three addresses (field case 47).
 */
export type ClientKey = string & { readonly [clientKeyBrand]: true }

const ethernet = 1
const longestClientIdLength = 64
const otherKey = /^(?:hw\/\d{1,3}\/(?:[0-9a-f]{2}){1,16}|id\/(?:[0-9a-f]{2}){1,64})$/

/** The MAC of an Ethernet client; `undefined` for other hardware and for addresses that identify nobody. */
export function macOf({ htype, chaddr }: DhcpPacket): MacAddress | undefined {
  return htype === ethernet ? macFromBytes(chaddr) : undefined
}

export function keyOfMac(mac: MacAddress): ClientKey {
  return mac as string as ClientKey
}

export function macOfKey(key: ClientKey): MacAddress | undefined {
  return parseMac(key)
}

/** The key of a client without a MAC; `undefined` when nothing in the packet tells clients apart. */
export function keyWithoutMac({ htype, chaddr, options }: DhcpPacket): ClientKey | undefined {
  // Six bytes that are no MAC are a broken client, not other hardware.
  if (htype === ethernet && chaddr.length === 6) return undefined
  if (chaddr.some((octet) => octet !== 0))
    return `hw/${htype}/${Buffer.from(chaddr).toString('hex')}` as ClientKey
  const id = findOption(options, optionCode.clientIdentifier)
  if (id === undefined || id.length === 0 || id.length > longestClientIdLength) return undefined
  return `id/${Buffer.from(id).toString('hex')}` as ClientKey
}

/** Reads a key back from a lease log. */
export function parseClientKey(text: string): ClientKey | undefined {
  return parseMac(text) === text || otherKey.test(text) ? (text as ClientKey) : undefined
}
