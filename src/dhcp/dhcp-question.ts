import type { DhcpQuestion } from '../core/boot-event.ts'
import { readEncapsulated } from './encapsulated.ts'
import type { Exchange } from './exchange.ts'
import { messageType, optionCode } from './option-codes.ts'
import { findOption, startsWithText, uint16At } from './options.ts'
import type { PxeClient } from './pxe-client.ts'

/** What a boot client asks, as far as a boot's timeline wants to know: numbers and words of closed sets, no copies. */
export function dhcpQuestionOf(exchange: Exchange, client: PxeClient): DhcpQuestion | undefined {
  const { packet, datagram } = exchange
  const message = messageOf(packet.messageType)
  if (message === undefined) return undefined
  return {
    message,
    stage: stageOf(client),
    arch: client.arch,
    firmware: client.firmware,
    via: client.bootClass === 'HTTPClient' ? 'http' : 'tftp',
    xid: packet.xid,
    seconds: packet.secs,
    bootServerType: datagram.port === 'proxy' ? bootServerTypeOf(exchange) : undefined,
  }
}

/** The question of firmware whose architecture is not known here; nothing else can be said of it. */
export function dhcpQuestionOfUnknown(exchange: Exchange): DhcpQuestion | undefined {
  const { packet } = exchange
  const message = messageOf(packet.messageType)
  if (message === undefined) return undefined
  const vendorClass = findOption(packet.options, optionCode.vendorClass)
  const via = startsWithText(vendorClass, 'HTTPClient') ? 'http' : 'tftp'
  return { message, stage: 'firmware', via, xid: packet.xid, seconds: packet.secs }
}

function messageOf(type: number | undefined): DhcpQuestion['message'] | undefined {
  if (type === messageType.discover) return 'discover'
  if (type === messageType.request) return 'request'
  return type === messageType.inform ? 'inform' : undefined
}

/** U-Boot and petitboot are loaders that nobody handed out; Open Firmware has no class either, and is firmware. */
function stageOf({ loader, fetch }: PxeClient): DhcpQuestion['stage'] {
  if (loader === 'ipxe') return 'ipxe'
  return fetch === 'config' ? 'other' : 'firmware'
}

/** PXE's boot item: type and layer, two bytes each (PXE 2.1, sub-option 71). */
const bootItem = 71

function bootServerTypeOf({ packet }: Exchange): number | undefined {
  const asked = readEncapsulated(findOption(packet.options, optionCode.vendorSpecific))
  const item = asked.find(({ code, data }) => code === bootItem && data.length >= 2)
  return item === undefined ? undefined : uint16At(item.data, 0)
}
