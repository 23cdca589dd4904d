import { archFromIpxe } from '../../core/arch.ts'
import type { BootClient, Firmware } from '../../core/client.ts'
import { type MacAddress, parseMac } from '../../core/mac.ts'
import { isPlaceholderSerial } from '../../core/serial.ts'
import { parseUuid, type Uuid } from '../../core/uuid.ts'
import type { QueryPair } from './query-string.ts'

const maxMacs = 16
const maxSerialLength = 128

/**
 * Reads what an iPXE says of its machine in the query of `/ipxe`: `mac` (may be repeated, any spelling), `uuid`,
 * `serial`, `arch` (`${buildarch}`), `platform` (`pcbios`, `efi`) and `lm` (`1` or `0`: what `cpuid --ext 29` found).
 * Anything else, anything unreadable and anything unexpanded (`${…}`) counts as not said (field cases 103, 121, 148).
 */
export function bootClientFromQuery(pairs: readonly QueryPair[], address: string | undefined): BootClient {
  const macs: MacAddress[] = []
  let uuid: Uuid | undefined
  let serial: string | undefined
  let buildArch: string | undefined
  let platform: string | undefined
  let hasLongMode: boolean | undefined
  for (const [name, value] of pairs) {
    const text = value.includes('${') ? '' : trimVendorText(value)
    if (text === '') continue
    if (name === 'mac') addMac(macs, text)
    else if (name === 'uuid') uuid ??= parseUuid(text)
    else if (name === 'serial') serial ??= readSerial(text)
    else if (name === 'arch') buildArch ??= text.toLowerCase()
    else if (name === 'platform') platform ??= text.toLowerCase()
    else if (name === 'lm') hasLongMode ??= readFlag(text)
  }
  return {
    macs,
    uuid,
    serial,
    arch: buildArch === undefined ? undefined : archFromIpxe(buildArch, platform, hasLongMode),
    firmware: readFirmware(platform),
    loader: 'ipxe',
    address,
  }
}

function addMac(macs: MacAddress[], text: string): void {
  const mac = parseMac(text)
  if (mac !== undefined && macs.length < maxMacs && !macs.includes(mac)) macs.push(mac)
}

function readSerial(text: string): string | undefined {
  if (text === '' || text.length > maxSerialLength) return undefined
  return isPlaceholderSerial(text) ? undefined : text
}

/** Vendors pad with blanks and end with line breaks; control characters are never part of a name. */
function trimVendorText(text: string): string {
  return (hasControlCharacter(text) ? text.replace(/\p{Cc}/gu, '') : text).trim()
}

/** A loop, because every value of every request passes here. */
function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true
  }
  return false
}

function readFirmware(platform: string | undefined): Firmware {
  if (platform === 'pcbios') return 'bios'
  return platform === 'efi' ? 'uefi' : 'unknown'
}

function readFlag(text: string): boolean | undefined {
  if (text === '1') return true
  return text === '0' ? false : undefined
}
