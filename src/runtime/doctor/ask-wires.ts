import { randomBytes, randomInt } from 'node:crypto'
import { formatIpv4 } from '../../core/ipv4.ts'
import { probeMac } from '../../core/probe-mac.ts'
import type { DeviceSockets } from '../../dhcp/bind-to-device.ts'
import { standardPorts } from '../../dhcp/destination.ts'
import type { OfferFacts, WireFacts } from '../../doctor/check-dhcp.ts'
import type { InterfaceFacts } from '../../doctor/check-interfaces.ts'
import { type DhcpClient, openDhcpClient, type ReceivedReply } from '../clients/dhcp-client.ts'

export interface AskWiresOptions {
  readonly interfaces: readonly InterfaceFacts[]
  readonly devices: DeviceSockets | undefined
  /** Answers from these are our own service's. */
  readonly ourAddresses: ReadonlySet<string>
  /** Servers that look first whether an address is taken need up to three seconds. */
  readonly waitMs: number
}

/** UEFI for x64: it is answered by DHCP servers and by proxies. */
const architecture = 7
const broadcast = { address: '255.255.255.255', port: standardPorts.server }

/**
 * Who answers a DISCOVER on each interface. An offer that nobody takes up lapses; nothing on the wire changes. The
 * machine that asks is made up: its MAC is one that no manufacturer gives.
 */
export function askWires({
  interfaces,
  devices,
  ourAddresses,
  waitMs,
}: AskWiresOptions): Promise<readonly WireFacts[]> {
  return Promise.all(
    interfaces.map(async (facts): Promise<WireFacts> => {
      const name = facts.name
      if (!facts.exists || !facts.isUp) return notAsked(name, 'it is not there or down')
      if (devices === undefined && interfaces.length > 1)
        return notAsked(
          name,
          'it cannot be asked apart from the others without the package koffi',
          'npm install',
        )
      let client: DhcpClient | undefined
      try {
        client = await openDhcpClient({
          port: standardPorts.client,
          device: name,
          ...(devices === undefined ? {} : { devices }),
        })
        const question = {
          xid: randomInt(2 ** 32),
          mac: probeMac(randomBytes(2).toString('hex')),
          architecture,
        }
        const replies = await client.ask(question, broadcast, { forMs: waitMs })
        const offers = replies.map((reply) => offerOf(reply, ourAddresses))
        return { interface: name, outcome: { kind: 'asked', offers } }
      } catch (error) {
        return failed(name, error)
      } finally {
        await client?.close()
      }
    }),
  )
}

function offerOf(reply: ReceivedReply, ourAddresses: ReadonlySet<string>): OfferFacts {
  const server = reply.server === undefined ? reply.from : formatIpv4(reply.server)
  return {
    server,
    isOurs: ourAddresses.has(server),
    ...(reply.address === undefined ? {} : { address: formatIpv4(reply.address) }),
    ...(reply.nextServer === undefined ? {} : { nextServer: formatIpv4(reply.nextServer) }),
    ...(reply.bootFile === undefined ? {} : { bootFile: reply.bootFile }),
  }
}

function failed(name: string, error: unknown): WireFacts {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return notAsked(name, 'answers go to UDP port 68, which this user may not open', 'run this as root')
    case 'EADDRINUSE':
      return notAsked(
        name,
        'a DHCP client of this machine has UDP port 68',
        'ask from another machine: nmap --script broadcast-dhcp-discover',
      )
    default:
      return notAsked(name, message)
  }
}

function notAsked(name: string, why: string, todo?: string): WireFacts {
  return { interface: name, outcome: { kind: 'not-asked', why, ...(todo === undefined ? {} : { todo }) } }
}
