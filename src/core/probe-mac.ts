import type { MacAddress } from './mac.ts'

/** Locally administered, so that no manufacturer gives it: 02, and the letters "pil". */
const prefix = '02:70:69:6c'

/**
 * The MAC of the made-up machine that `pilotlight doctor` asks as. The service answers it like any other, so that the
 * doctor sees what machines see, and knows it as none: it is in no list, and no boot.
 * @param tail two octets in hexadecimal, without anything between them
 */
export function probeMac(tail: string): MacAddress {
  return `${prefix}:${tail.slice(0, 2)}:${tail.slice(2, 4)}` as MacAddress
}

export function isProbeMac(mac: MacAddress): boolean {
  return mac.startsWith(prefix)
}
