import type { BootClient } from './client.ts'
import type { Host, Inventory } from './host.ts'
import { type Reason, reason } from './reason.ts'

export interface HostMatch {
  readonly host: Host
  /** By what it was recognised; the facts are our own record's, never the client's text. */
  readonly reason: Reason
}

/**
 * Finds the host behind a client: any of its MACs first, then its UUID in either byte order (field case 155), then
 * its serial (DESIGN §7). A MAC is a machine's most particular mark; UUIDs and serials are sometimes shared by a batch.
 */
export function matchHost(client: BootClient, inventory: Inventory): HostMatch | undefined {
  for (const mac of client.macs) {
    const host = inventory.hostsByMac.get(mac)
    if (host !== undefined) return { host, reason: reason('host-matched-by-mac', { host: host.id, mac }) }
  }
  const { uuid, serial } = client
  const byUuid = uuid === undefined ? undefined : inventory.hostsByUuid.get(uuid)
  if (uuid !== undefined && byUuid !== undefined) {
    return { host: byUuid, reason: reason('host-matched-by-uuid', { host: byUuid.id, uuid }) }
  }
  const bySerial = serial === undefined ? undefined : inventory.hostsBySerial.get(serial)
  if (serial !== undefined && bySerial !== undefined) {
    return { host: bySerial, reason: reason('host-matched-by-serial', { host: bySerial.id, serial }) }
  }
  return undefined
}
