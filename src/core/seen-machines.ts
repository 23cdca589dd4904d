import type { BootClient } from './client.ts'
import type { MacAddress } from './mac.ts'

/** What DHCP has seen of machines, for loaders that ask under names that say little of who they are. */
export interface SeenMachines {
  /** The machine that was last seen with this address. */
  macOf(address: string): MacAddress | undefined
  /** The address that it holds, as far as was seen. */
  addressOf(mac: MacAddress): string | undefined
  /** What its firmware said of itself. */
  machineOf(mac: MacAddress): Pick<BootClient, 'arch' | 'firmware'> | undefined
}

/** Where DHCP is not ours, nobody was seen. */
export const nobodySeen: SeenMachines = {
  macOf: () => undefined,
  addressOf: () => undefined,
  machineOf: () => undefined,
}
