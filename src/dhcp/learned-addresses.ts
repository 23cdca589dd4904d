import type { Ipv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import { BoundedMap } from './bounded-map.ts'

/** Which machine holds which address, as far as DHCP has shown. The newest news counts. */
export interface LearnedAddresses {
  note(mac: MacAddress, address: Ipv4): void
  forget(mac: MacAddress): void
  addressOf(mac: MacAddress): Ipv4 | undefined
  macOf(address: Ipv4): MacAddress | undefined
}

const maxMachines = 16_384

export function createLearnedAddresses(capacity = maxMachines): LearnedAddresses {
  const addresses = new BoundedMap<MacAddress, Ipv4>(capacity)
  const macs = new BoundedMap<Ipv4, MacAddress>(capacity)

  function forget(mac: MacAddress): void {
    const address = addresses.get(mac)
    if (address === undefined) return
    addresses.delete(mac)
    if (macs.get(address) === mac) macs.delete(address)
  }

  return {
    note(mac, address) {
      if (addresses.get(mac) !== address) forget(mac)
      addresses.set(mac, address)
      macs.set(address, mac)
    },
    forget,
    addressOf: (mac) => addresses.get(mac),
    // A second machine may have been given the address since; then the first does not hold it any more.
    macOf: (address) => macs.get(address),
  }
}
