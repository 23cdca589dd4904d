import type { ProxyStyle } from './dhcp-advice.ts'
import { readEncapsulated } from './encapsulated.ts'
import type { HandOut } from './loader-ladder.ts'
import { optionCode } from './option-codes.ts'
import { type DhcpOption, findOption, textOption } from './options.ts'
import type { DhcpPacket } from './packet.ts'
import type { PxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'

/** In whose role a reply is made: each makes firmware read the same options differently. */
export type ReplyRole = 'proxy-offer' | 'boot-server' | 'address-server'

/** The part of a reply that makes a machine boot. */
export interface BootFields {
  readonly bootFile: string
  readonly options: readonly DhcpOption[]
  readonly isPaddedAfterBootFile: boolean
}

export interface BootFieldsInput {
  readonly request: DhcpPacket
  readonly client: PxeClient
  readonly handOut: Exclude<HandOut, { readonly kind: 'nothing' }>
  readonly style: ProxyStyle
  readonly role: ReplyRole
  readonly server: ServerIdentity
}

const pxeClassOption = textOption(optionCode.vendorClass, 'PXEClient')
const httpClassOption = textOption(optionCode.vendorClass, 'HTTPClient')

const discoveryControl = 6
/** Discovery control bit 3: use the boot file in this packet, ask nobody. */
const useThisFile = [discoveryControl, 1, 0x08] as const
const bootItem = 71
const longestBootItemLength = 16
const useThisFileOption = vendorOption(useThisFile)

/**
 * A boot menu with the one item that Raspberry Pi ROMs look for (field case 43): discovery control 3, a prompt with no
 * waiting time, item 0 called "Raspberry Pi Boot".
 */
const raspberryPiOption = vendorOption([
  ...[discoveryControl, 1, 0x03],
  ...[10, 4, 0, ...Buffer.from('PXE')],
  ...[9, 20, 0, 0, 17, ...Buffer.from('Raspberry Pi Boot')],
])

/** iPXE option 0xb0 `no-pxedhcp`: no proxy will come, so iPXE does not wait for one. */
const noProxyOption: DhcpOption = { code: optionCode.ipxe, data: Uint8Array.of(0xb0, 1, 1) }

/** Everything in a reply that depends on how the client boots, in the order in which it is written. */
export function bootFields({ request, client, handOut, style, role, server }: BootFieldsInput): BootFields {
  const options: DhcpOption[] = []
  const classOption = vendorClassFor(client, role)
  if (classOption) options.push(classOption)
  const vendor = vendorSpecificFor(request, client, style, role)
  if (vendor) options.push(vendor)
  options.push(server.tftpServerOption)
  const machineId = findOption(request.options, optionCode.clientMachineIdentifier)
  if (machineId) options.push({ code: optionCode.clientMachineIdentifier, data: machineId })
  if (client.loader === 'ipxe' && role === 'address-server') options.push(noProxyOption)
  if (handOut.kind === 'config') options.push(textOption(optionCode.pxelinuxConfigFile, handOut.file))
  return { bootFile: bootFileOf(handOut), options, isPaddedAfterBootFile: client.platform !== 'raspberry-pi' }
}

/**
 * HTTP Boot takes no reply without its class (51). Proxies must name `PXEClient`. A server with an address must not:
 * UEFI would ask port 4011 for the rest (1), and an Ampere board would not boot at all (2).
 */
function vendorClassFor(client: PxeClient, role: ReplyRole): DhcpOption | undefined {
  if (client.bootClass === 'HTTPClient') return httpClassOption
  if (client.bootClass === 'other') return undefined
  if (role === 'address-server' && client.platform !== 'raspberry-pi') return undefined
  return pxeClassOption
}

function vendorSpecificFor(
  request: DhcpPacket,
  client: PxeClient,
  style: ProxyStyle,
  role: ReplyRole,
): DhcpOption | undefined {
  if (client.bootClass !== 'PXEClient') return undefined
  if (client.platform === 'raspberry-pi') return raspberryPiOption
  if (role === 'address-server') return undefined
  // Only UEFI has a problem with it; a BIOS ROM without it asks 4011, and so does iPXE for nothing.
  const isDirect = client.firmware === 'bios' || client.loader === 'ipxe' || style === 'direct'
  if (role === 'proxy-offer') return isDirect ? useThisFileOption : undefined
  return bootServerVendorOption(request, client)
}

/** On port 4011 a ROM that chose from a menu wants its choice back; UEFI takes the file without being told. */
function bootServerVendorOption(request: DhcpPacket, client: PxeClient): DhcpOption | undefined {
  const asked = readEncapsulated(findOption(request.options, optionCode.vendorSpecific))
  const item = asked.find(({ code, data }) => code === bootItem && data.length <= longestBootItemLength)?.data
  const isUefi = client.firmware === 'uefi' && client.loader !== 'ipxe'
  if (item === undefined) return isUefi ? undefined : useThisFileOption
  return vendorOption([...(isUefi ? [] : useThisFile), bootItem, item.length, ...item])
}

function bootFileOf(handOut: BootFieldsInput['handOut']): string {
  switch (handOut.kind) {
    case 'file':
      return handOut.file
    case 'url':
    case 'script':
      return handOut.url
    case 'config':
      return ''
  }
}

function vendorOption(subOptions: readonly number[]): DhcpOption {
  return { code: optionCode.vendorSpecific, data: Uint8Array.of(...subOptions, optionCode.end) }
}
