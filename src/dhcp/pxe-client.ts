import type { BootClient, Loader } from '../core/client.ts'
import { formatIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import { type Uuid, uuidFromBytes } from '../core/uuid.ts'
import {
  architectureCodeOfVendorClass,
  type ClientArchitecture,
  clientArchitecture,
  type FirstFetch,
  type Platform,
} from './client-architecture.ts'
import { macOf } from './hardware-address.ts'
import { type IpxeFeature, readIpxeFeatures } from './ipxe-features.ts'
import { optionCode } from './option-codes.ts'
import { findOption, readText, startsWithText, uint16At } from './options.ts'
import type { DhcpPacket } from './packet.ts'
import { readUserClasses } from './user-class.ts'

/** `other`: U-Boot, petitboot and Open Firmware, which do not call themselves PXE and are answered as server only. */
export type BootClass = 'PXEClient' | 'HTTPClient' | 'other'

/** A machine that asks by DHCP how to boot. */
export interface PxeClient extends BootClient {
  readonly bootClass: BootClass
  readonly platform: Platform
  readonly fetch: FirstFetch
  /** Option 93 as it came, its first value. */
  readonly architectureCode: number | undefined
  /** What an iPXE says it can do; empty for other loaders. */
  readonly features: readonly IpxeFeature[]
  /** Options 60 and 93 contradict each other; option 60 counts. */
  readonly mismatch: 'http-class-with-pxe-architecture' | 'pxe-class-with-http-architecture' | undefined
}

export type NotPxeReason = 'not-a-boot-client' | 'architecture-unknown'

export type PxeClientResult =
  | { readonly client: PxeClient }
  | { readonly client?: undefined; readonly reason: NotPxeReason }

/** Raspberry Pi boot ROMs call themselves an x86 BIOS; only their address gives them away (field case 45). */
const raspberryPiPrefixes: ReadonlySet<string> = new Set([
  'b8:27:eb',
  'dc:a6:32',
  'e4:5f:01',
  '28:cd:c1',
  'd8:3a:dd',
  '2c:cf:67',
])

const noFeatures: readonly IpxeFeature[] = []

/**
 * Reads who asks and how it wants to boot, or why it is no boot client. What a client *requests* in option 55 says
 * nothing about it: phones and printers ask for boot options too (field case 40).
 */
export function readPxeClient(packet: DhcpPacket, mac = macOf(packet)): PxeClientResult {
  const { options, ciaddr } = packet
  const vendorClass = findOption(options, optionCode.vendorClass)
  const bootClass = bootClassOf(vendorClass)
  const architectureCode = readArchitectureCode(findOption(options, optionCode.clientArchitecture))
  if (bootClass === 'other' && !announcesBootWithoutClass(vendorClass, architectureCode))
    return { reason: 'not-a-boot-client' }

  const said = architectureOf(vendorClass, bootClass, architectureCode)
  if (said === undefined) return { reason: 'architecture-unknown' }
  const isIpxe = hasIpxeMarks(packet)
  const isPi =
    said.platform === 'bios' && bootClass !== 'other' && !isIpxe && mac !== undefined && isRaspberryPi(mac)
  const { platform, firmware, arch } = isPi ? raspberryPi : said
  const fetch = fetchOf(bootClass, said)
  return {
    client: {
      macs: mac === undefined ? [] : [mac],
      uuid: readMachineUuid(findOption(options, optionCode.clientMachineIdentifier)),
      arch,
      firmware,
      loader: loaderOf(isIpxe, fetch),
      address: ciaddr === 0 ? undefined : formatIpv4(ciaddr),
      bootClass,
      platform,
      fetch,
      architectureCode,
      features: isIpxe ? readIpxeFeatures(findOption(options, optionCode.ipxe)) : noFeatures,
      mismatch: mismatchOf(bootClass, said),
    },
  }
}

const raspberryPi: ClientArchitecture = {
  platform: 'raspberry-pi',
  fetch: 'tftp',
  firmware: 'unknown',
  arch: 'aarch64',
}

/** U-Boot without option 93, by the names it gives itself. */
const ubootByVendorClass: ReadonlyMap<string, number> = new Map([
  ['U-Boot.armv8', 0x16],
  ['U-Boot.armv7', 0x15],
  ['U-Boot.arm', 0x15],
])
const ubootPrefix = 'U-Boot'
const architecturesWithoutClass: ReadonlySet<number> = new Set([0x0c, 0x0e])

/** The prefix counts, in this case: iPXE copies a bare `PXEClient` from the answer that started it. */
function bootClassOf(vendorClass: Uint8Array | undefined): BootClass {
  if (startsWithText(vendorClass, 'PXEClient')) return 'PXEClient'
  return startsWithText(vendorClass, 'HTTPClient') ? 'HTTPClient' : 'other'
}

function announcesBootWithoutClass(vendorClass: Uint8Array | undefined, code: number | undefined): boolean {
  return (
    startsWithText(vendorClass, ubootPrefix) || (code !== undefined && architecturesWithoutClass.has(code))
  )
}

function architectureOf(
  vendorClass: Uint8Array | undefined,
  bootClass: BootClass,
  code: number | undefined,
): ClientArchitecture | undefined {
  if (bootClass === 'other' && startsWithText(vendorClass, ubootPrefix))
    return ubootArchitecture(vendorClass, code)
  const known = code === undefined ? undefined : clientArchitecture(code)
  if (known !== undefined) return known
  const named = architectureCodeOfVendorClass(readText(vendorClass) ?? '')
  return named === undefined ? undefined : clientArchitecture(named)
}

function ubootArchitecture(
  vendorClass: Uint8Array | undefined,
  code: number | undefined,
): ClientArchitecture | undefined {
  const known = clientArchitecture(code ?? ubootByVendorClass.get(readText(vendorClass) ?? '') ?? -1)
  return known === undefined ? undefined : { ...known, fetch: 'config', firmware: 'unknown' }
}

function fetchOf(bootClass: BootClass, { fetch }: ClientArchitecture): FirstFetch {
  if (bootClass === 'HTTPClient') return 'http'
  return bootClass === 'PXEClient' && fetch === 'http' ? 'tftp' : fetch
}

function mismatchOf(bootClass: BootClass, { fetch }: ClientArchitecture): PxeClient['mismatch'] {
  if (bootClass === 'HTTPClient' && fetch !== 'http') return 'http-class-with-pxe-architecture'
  if (bootClass === 'PXEClient' && fetch === 'http') return 'pxe-class-with-http-architecture'
  return undefined
}

function loaderOf(isIpxe: boolean, fetch: FirstFetch): Loader {
  if (isIpxe) return 'ipxe'
  if (fetch === 'http') return 'http-boot'
  return fetch === 'config' ? 'pxelinux' : 'none'
}

/** The user class, or iPXE's own options: NIC vendors' builds send no user class (field case 16). */
function hasIpxeMarks({ options }: DhcpPacket): boolean {
  if (findOption(options, optionCode.ipxe) !== undefined) return true
  return readUserClasses(findOption(options, optionCode.userClass)).includes('iPXE')
}

function isRaspberryPi(mac: MacAddress): boolean {
  return raspberryPiPrefixes.has(mac.slice(0, 8))
}

/** Option 93 may list several; the first is the one that boots now (RFC 4578 §2.1). */
function readArchitectureCode(data: Uint8Array | undefined): number | undefined {
  return data !== undefined && data.length >= 2 ? uint16At(data, 0) : undefined
}

/** Type 0 and 16 bytes (RFC 4578 §2.3). Four equal words are a Raspberry Pi's serial number, not a UUID. */
function readMachineUuid(data: Uint8Array | undefined): Uuid | undefined {
  if (data?.length !== 17 || data[0] !== 0) return undefined
  const bytes = data.subarray(1)
  return isRepeatedWord(bytes) ? undefined : uuidFromBytes(bytes)
}

function isRepeatedWord(bytes: Uint8Array): boolean {
  for (let index = 4; index < bytes.length; index++) if (bytes[index] !== bytes[index - 4]) return false
  return true
}
