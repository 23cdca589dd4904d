import { formatIpv4, type Ipv4 } from '../core/ipv4.ts'
import { optionCode } from './option-codes.ts'
import { type DhcpOption, ipv4Option, textOption } from './options.ts'

/**
 * Who answers on one wire. siaddr, sname and options 54 and 66 all name this one address, because each client reads
 * another of them (field cases 20, 21, 28).
 */
export interface ServerIdentity {
  readonly address: Ipv4
  readonly addressText: string
  /** `http://192.0.2.10:8080`, without a slash at the end. */
  readonly baseUrl: string
  readonly serverIdentifierOption: DhcpOption
  readonly tftpServerOption: DhcpOption
}

export function createServerIdentity(address: Ipv4, baseUrl: string): ServerIdentity {
  const addressText = formatIpv4(address)
  return {
    address,
    addressText,
    baseUrl,
    serverIdentifierOption: ipv4Option(optionCode.serverIdentifier, address),
    tftpServerOption: textOption(optionCode.tftpServerName, addressText),
  }
}
