import { createHash, randomInt } from 'node:crypto'
import { formatIpv4 } from '../../core/ipv4.ts'
import { parseMac } from '../../core/mac.ts'
import type { DhcpClient, ReceivedReply } from '../clients/dhcp-client.ts'
import type { DhcpQuestion } from '../clients/dhcp-question.ts'
import { fetchByTftp } from '../clients/fetch-by-tftp.ts'

export interface SimulatedFirmware {
  readonly mac: string
  readonly client: DhcpClient
  /** Where the question goes; a real machine broadcasts it. */
  readonly dhcpServer: { readonly address: string; readonly port: number }
  /** 69 on a real network. */
  readonly tftpPort: number
}

export interface FirmwareBoot {
  /** What UEFI for x64 was offered. */
  readonly offer: ReceivedReply
  readonly loader: { readonly bytes: Buffer; readonly sha256: string; readonly milliseconds: number }
  /** What the loader was offered, which is an iPXE by its user class. */
  readonly loaderOffer: ReceivedReply
}

/** UEFI for x64 by PXE (option 93). */
const architecture = 7
const waitMs = 5_000

/**
 * The part of a boot before iPXE runs: DISCOVER, OFFER, the loader by TFTP, and the loader's own DISCOVER.
 * @throws Error when a step brings nothing
 */
export async function startSimulatedFirmware(firmware: SimulatedFirmware): Promise<FirmwareBoot> {
  const offer = await discover(firmware, false)
  const loader = await fetchLoader(offer, firmware.tftpPort)
  return { offer, loader, loaderOffer: await discover(firmware, true) }
}

async function discover({ mac, client, dhcpServer }: SimulatedFirmware, isIpxe: boolean) {
  const parsed = parseMac(mac)
  if (parsed === undefined) throw new Error(`${mac} is no MAC`)
  const question: DhcpQuestion = { xid: randomInt(2 ** 32), mac: parsed, architecture, isIpxe }
  const isEnough = (replies: readonly ReceivedReply[]) =>
    replies.some(({ bootFile }) => bootFile !== undefined)
  const replies = await client.ask(question, dhcpServer, { forMs: waitMs, isEnough })
  const offer = replies.find(({ bootFile }) => bootFile !== undefined)
  if (offer === undefined) throw new Error(`nobody offered a boot file within ${waitMs / 1000} s`)
  return offer
}

async function fetchLoader({ nextServer, bootFile = '' }: ReceivedReply, port: number) {
  if (nextServer === undefined) throw new Error('the offer names no server for its boot file')
  const address = formatIpv4(nextServer)
  const fetched = await fetchByTftp({ address, port, name: bootFile })
  if (fetched.kind !== 'fetched')
    throw new Error(`TFTP of ${bootFile} from ${address}: ${JSON.stringify(fetched)}`)
  const { bytes, milliseconds } = fetched
  return { bytes, milliseconds, sha256: createHash('sha256').update(bytes).digest('hex') }
}
