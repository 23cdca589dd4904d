import { type MacAddress, macFromBytes, parseMac } from '../core/mac.ts'
import { optionCode } from './option-codes.ts'
import { findOption } from './options.ts'
import type { DhcpPacket } from './packet.ts'

declare const clientKeyBrand: unique symbol
/**
 * Names a client for leases and memories: `1/52:54:00:ab:cd:ef` by hardware address, `id/<hex>` where it has none
 * (InfiniBand). Never by client id while there is an address: firmware, iPXE and the OS each send another id (47).
 */
export type ClientKey = string & { readonly [clientKeyBrand]: true }

const ethernet = 1
const longestClientIdLength = 64
const clientKeyPattern = /^(?:\d{1,3}\/[0-9a-f]{2}(?::[0-9a-f]{2}){0,15}|id\/(?:[0-9a-f]{2}){1,64})$/

/** The MAC of an Ethernet client; `undefined` for other hardware and for addresses that identify nobody. */
export function macOf({ htype, chaddr }: DhcpPacket): MacAddress | undefined {
  return htype === ethernet ? macFromBytes(chaddr) : undefined
}

/** The key of the client that sent `packet`; `undefined` when nothing in it tells clients apart. */
export function clientKeyOf(packet: DhcpPacket): ClientKey | undefined {
  const { htype, chaddr } = packet
  if (htype === ethernet && chaddr.length === 6) {
    const mac = macFromBytes(chaddr)
    return mac === undefined ? undefined : keyOfMac(mac)
  }
  if (chaddr.some((octet) => octet !== 0))
    return `${htype}/${Buffer.from(chaddr)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:')}` as ClientKey
  const id = findOption(packet.options, optionCode.clientIdentifier)
  if (id === undefined || id.length === 0 || id.length > longestClientIdLength) return undefined
  return `id/${Buffer.from(id).toString('hex')}` as ClientKey
}

export function keyOfMac(mac: MacAddress): ClientKey {
  return `${ethernet}/${mac}` as ClientKey
}

export function macOfKey(key: ClientKey): MacAddress | undefined {
  return key.startsWith(`${ethernet}/`) ? parseMac(key.slice(2)) : undefined
}

/** Reads a key back from a lease log. */
export function parseClientKey(text: string): ClientKey | undefined {
  return clientKeyPattern.test(text) ? (text as ClientKey) : undefined
}
