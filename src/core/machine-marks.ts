import type { Host, Inventory } from './host.ts'
import type { MacAddress } from './mac.ts'
import { swapUuidByteOrder, type Uuid } from './uuid.ts'

/** By what a machine is recognised, as texts that can be kept: `MAC 52:54:00:ab:cd:ef`, a UUID in both byte orders (field case 155), `serial ABC`. */
export function machineMarks({ macs, uuid, serial }: Pick<Host, 'macs' | 'uuid' | 'serial'>): string[] {
  const marks: string[] = macs.map(macMark)
  if (uuid !== undefined) {
    for (const each of new Set([uuid, swapUuidByteOrder(uuid)])) marks.push(`UUID ${each}`)
  }
  if (serial !== undefined) marks.push(`serial ${serial}`)
  return marks
}

export const macMark = (mac: MacAddress): string => `MAC ${mac}`

/** The host that has a mark now. */
export function holderOf(
  mark: string,
  { hostsByMac, hostsByUuid, hostsBySerial }: Pick<Inventory, 'hostsByMac' | 'hostsByUuid' | 'hostsBySerial'>,
): Host | undefined {
  const at = mark.indexOf(' ')
  const value = mark.slice(at + 1)
  switch (mark.slice(0, at)) {
    case 'MAC':
      return hostsByMac.get(value as MacAddress)
    case 'UUID':
      return hostsByUuid.get(value as Uuid)
    default:
      return hostsBySerial.get(value)
  }
}
