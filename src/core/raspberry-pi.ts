import type { MacAddress } from './mac.ts'

/** Address blocks of the Raspberry Pi makers (field case 45). */
const raspberryPiPrefixes: ReadonlySet<string> = new Set([
  'b8:27:eb',
  'dc:a6:32',
  'e4:5f:01',
  '28:cd:c1',
  'd8:3a:dd',
  '2c:cf:67',
])

/**
 * Whether the MAC is a Raspberry Pi's. Its boot ROM copied the architecture value of an x86 BIOS PC, so that value
 * says nothing about such a machine (field case 45; rpi-eeprom issues 87 and 103).
 */
export function isRaspberryPi(mac: MacAddress): boolean {
  return raspberryPiPrefixes.has(mac.slice(0, 8))
}
