declare const macBrand: unique symbol

/** A unicast MAC address, always spelt `52:54:00:ab:cd:ef`. */
export type MacAddress = string & { readonly [macBrand]: true }

const separated =
  /^([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]([0-9a-f]{2})[:-]([0-9a-f]{2})$/
const dotted = /^([0-9a-f]{4})\.([0-9a-f]{4})\.([0-9a-f]{4})$/
const bare = /^[0-9a-f]{12}$/

/**
 * Reads a MAC in any spelling that clients and admins use: colons, hyphens, Cisco dots, bare hex, any case.
 * Single-digit octets are refused, because `2:4:0:b:d:f` is more often a typo than an address.
 * Multicast, all-zero and all-FF addresses identify no machine and are refused too.
 */
export function parseMac(text: string): MacAddress | undefined {
  const lower = text.trim().toLowerCase()
  if (!separated.test(lower) && !dotted.test(lower) && !bare.test(lower)) return undefined
  const digits = lower.replace(/[:.-]/g, '')
  if (digits === '000000000000') return undefined
  const firstOctet = Number.parseInt(digits.slice(0, 2), 16)
  const isMulticast = (firstOctet & 1) === 1
  if (isMulticast) return undefined
  return (digits.match(/../g) as string[]).join(':') as MacAddress
}
