import { archFromIpxe } from '../../core/arch.ts'
import type { BootClient, Firmware } from '../../core/client.ts'
import { type MacAddress, parseMac } from '../../core/mac.ts'
import { parseUuid } from '../../core/uuid.ts'
import { firstValue, type QueryPair } from './query-string.ts'

const maxMacs = 16
const maxSerialLength = 128

/** What vendors leave in SMBIOS instead of a serial, lower case; it names thousands of machines and so none. */
const placeholderSerials: ReadonlySet<string> = new Set([
  'no asset tag',
  'to be filled by o.e.m.',
  'not specified',
  'not applicable',
  'not available',
  'default string',
  'system serial number',
  'chassis serial number',
  'serial number',
  'none',
  'null',
  'n/a',
  'unknown',
  'empty',
  'invalid',
  'oem',
  'o.e.m.',
  '0123456789',
  '123456789',
  '1234567890',
])
/** `0`, `0000000`, `XXXXXXX`, `.......`, `-`: one character over and over. */
const sameCharacter = /^(.)\1*$/s

/**
 * Reads what an iPXE says of its machine in the query of `/ipxe`: `mac` (may be repeated, any spelling), `uuid`,
 * `serial`, `arch` (`${buildarch}`), `platform` (`pcbios`, `efi`) and `lm` (`1` or `0`: what `cpuid --ext 29` found).
 * Anything else, anything unreadable and anything unexpanded (`${…}`) counts as not said (field cases 103, 121, 148).
 */
export function bootClientFromQuery(pairs: readonly QueryPair[], address: string | undefined): BootClient {
  const said = pairs.filter(([, value]) => !value.includes('${'))
  const buildArch = firstValue(said, 'arch')
  const platform = firstValue(said, 'platform')?.trim().toLowerCase()
  const arch =
    buildArch === undefined
      ? undefined
      : archFromIpxe(buildArch.trim().toLowerCase(), platform, readFlag(firstValue(said, 'lm')))
  return {
    macs: readMacs(said),
    uuid: firstReadable(said, 'uuid', parseUuid),
    serial: firstReadable(said, 'serial', readSerial),
    arch,
    firmware: readFirmware(platform),
    loader: 'ipxe',
    address,
  }
}

function readMacs(pairs: readonly QueryPair[]): readonly MacAddress[] {
  const macs = pairs
    .filter(([name]) => name === 'mac')
    .map(([, value]) => parseMac(trimVendorText(value)))
    .filter((mac) => mac !== undefined)
  return [...new Set(macs)].slice(0, maxMacs)
}

function firstReadable<T>(
  pairs: readonly QueryPair[],
  name: string,
  read: (text: string) => T | undefined,
): T | undefined {
  for (const [key, value] of pairs) {
    const result = key === name ? read(trimVendorText(value)) : undefined
    if (result !== undefined) return result
  }
  return undefined
}

function readSerial(text: string): string | undefined {
  if (text === '' || text.length > maxSerialLength) return undefined
  if (placeholderSerials.has(text.toLowerCase()) || sameCharacter.test(text)) return undefined
  return text
}

/** Vendors pad with blanks and end with line breaks; control characters are never part of a name. */
function trimVendorText(text: string): string {
  return text.replace(/\p{Cc}/gu, '').trim()
}

function readFirmware(platform: string | undefined): Firmware {
  if (platform === 'pcbios') return 'bios'
  return platform === 'efi' ? 'uefi' : 'unknown'
}

function readFlag(text: string | undefined): boolean | undefined {
  if (text === '1') return true
  return text === '0' ? false : undefined
}
