import type { BootEvent } from '../../core/boot-event.ts'
import type { MacAddress } from '../../core/mac.ts'

const goodForMs = 24 * 60 * 60 * 1000

/**
 * Whether a DHCP server gives addresses beside us: its offers cannot be heard here, but the REQUESTs of machines that
 * chose it are.
 */
export interface AddressServers {
  note(event: Extract<BootEvent, { type: 'dhcp-unanswered' }>): void
  /** A server that another machine than this one chose lately. */
  seenBeside(mac: MacAddress | undefined, at: number): string | undefined
}

export function createAddressServers(): AddressServers {
  /** The last two machines, so that there is one beside any. */
  let seen: readonly { readonly mac: MacAddress; readonly server: string; readonly at: number }[] = []

  return {
    note({ mac, chosen, at }) {
      if (chosen === undefined) return
      seen = [{ mac, server: chosen, at }, ...seen.filter((other) => other.mac !== mac).slice(0, 1)]
    },
    seenBeside: (mac, at) =>
      seen.find((other) => other.mac !== mac && Math.abs(at - other.at) <= goodForMs)?.server,
  }
}
