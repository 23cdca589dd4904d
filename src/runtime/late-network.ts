import { nobodySeen, type SeenMachines } from '../core/seen-machines.ts'
import type { BootNetwork } from './start-boot-network.ts'

/** What DHCP and TFTP know, for those who are there before they are: the boot listener is open first. */
export interface LateNetwork extends SeenMachines {
  is(network: BootNetwork): void
  started(): BootNetwork | undefined
}

export function createLateNetwork(): LateNetwork {
  let network: BootNetwork | undefined
  const seen = (): SeenMachines => network ?? nobodySeen
  return {
    is(started) {
      network = started
    },
    started: () => network,
    macOf: (address) => seen().macOf(address),
    addressOf: (mac) => seen().addressOf(mac),
    machineOf: (mac) => seen().machineOf(mac),
  }
}
