import type { MacAddress } from '../../core/mac.ts'

interface Entry {
  mac: MacAddress
  /** When it was seen last with this address. */
  at: number
}

/** As long as a boot lasts at most; who was silent for longer may have lost its address to another. */
const goodForMs = 2 * 60 * 60 * 1000
const mostAddresses = 65_536

/**
 * Which card was seen with an address last. A flood pushes out what was not seen for longest, at most twice `maximum`
 * are kept.
 */
export interface AddressBook {
  saw(address: string, mac: MacAddress, at: number): void
  macOf(address: string, at: number): MacAddress | undefined
}

export function createAddressBook(maximum = mostAddresses): AddressBook {
  let recent = new Map<string, Entry>()
  let older = new Map<string, Entry>()

  function find(address: string): Entry | undefined {
    return recent.get(address) ?? older.get(address)
  }

  return {
    saw(address, mac, at) {
      const known = recent.get(address)
      if (known !== undefined) {
        known.mac = mac
        known.at = at
        return
      }
      if (recent.size >= maximum) {
        older = recent
        recent = new Map()
      }
      recent.set(address, { mac, at })
    },
    macOf(address, at) {
      const known = find(address)
      // Both ways: a time that is yet to come is from a clock that was wrong.
      return known !== undefined && Math.abs(at - known.at) <= goodForMs ? known.mac : undefined
    },
  }
}
