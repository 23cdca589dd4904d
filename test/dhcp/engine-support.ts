import type { BootClient } from '../../src/core/client.ts'
import { formatIpv4, type Ipv4, parseIpv4Subnet } from '../../src/core/ipv4.ts'
import type { DhcpAnswer } from '../../src/dhcp/answer.ts'
import type { DhcpAdvice } from '../../src/dhcp/dhcp-advice.ts'
import type { DhcpSettings, DhcpSubnet, ServerDhcpSettings } from '../../src/dhcp/dhcp-settings.ts'
import { createDhcpEngine, type DhcpEngine } from '../../src/dhcp/engine.ts'
import type { LeaseChange } from '../../src/dhcp/leases/lease.ts'
import { defaultLoaderFiles } from '../../src/dhcp/loader-ladder.ts'
import { type DhcpPacket, headerFile, headerServerName } from '../../src/dhcp/packet.ts'
import { createServerIdentity } from '../../src/dhcp/server-identity.ts'
import { ip, manualClock, optionsOf, packetOf, recorder, textOf } from './support.ts'

export const identity = createServerIdentity(ip('192.0.2.10'), 'http://192.0.2.10:8080')
export const ports = { server: 67, client: 68, proxy: 4011 }

export const proxySettings: DhcpSettings = { mode: 'proxy', style: 'direct', loaders: defaultLoaderFiles }

export function subnetSettings(changes: Partial<DhcpSubnet> & { readonly text?: string } = {}): DhcpSubnet {
  const { text = '192.0.2.0/24', ...rest } = changes
  const subnet = parseIpv4Subnet(text)
  if (subnet === undefined) throw new Error(`${text} is no subnet`)
  return {
    subnet,
    ranges: [{ first: ip('192.0.2.50'), last: ip('192.0.2.59') }],
    leaseSeconds: 3600,
    routers: [ip('192.0.2.1')],
    dnsServers: [ip('192.0.2.1')],
    ntpServers: [],
    extraOptions: [],
    allow: 'any',
    ...rest,
  }
}

export function serverSettings(changes: Partial<ServerDhcpSettings> = {}): ServerDhcpSettings {
  return {
    mode: 'server',
    style: 'direct',
    loaders: defaultLoaderFiles,
    subnets: [subnetSettings()],
    isAuthoritative: false,
    ...changes,
  }
}

export interface Rig {
  readonly engine: DhcpEngine
  readonly clock: ReturnType<typeof manualClock>
  readonly events: ReturnType<typeof recorder>
  readonly changes: LeaseChange[]
  /** What was asked of the decision. */
  readonly asked: BootClient[]
  send(
    bytes: Uint8Array,
    how?: { readonly port?: 'server' | 'proxy'; readonly from?: string; readonly fromPort?: number },
  ): DhcpAnswer
}

export interface RigOptions {
  readonly settings?: DhcpSettings
  readonly advice?: DhcpAdvice | ((client: BootClient) => DhcpAdvice)
  readonly reserved?: readonly Ipv4[]
  readonly hasAddress?: boolean
}

/** An engine on one wire, its clock and its events. */
export function createRig({
  settings = proxySettings,
  advice = { kind: 'live' },
  reserved = [],
  hasAddress = true,
}: RigOptions = {}): Rig {
  const clock = manualClock()
  const events = recorder()
  const asked: BootClient[] = []
  const changes: LeaseChange[] = []
  const engine = createDhcpEngine({
    settings,
    ports,
    clock,
    onEvent: events.onEvent,
    decide(client) {
      asked.push(client)
      return typeof advice === 'function' ? advice(client) : advice
    },
    isReservedAddress: (address) => reserved.includes(address),
    identityOf: (address) => (address === identity.address ? identity : undefined),
  })
  const wire = { interface: 'eth1', server: hasAddress ? identity : undefined }
  return {
    engine,
    clock,
    events,
    asked,
    changes,
    send(bytes, { port = 'server', from = '0.0.0.0', fromPort = 68 } = {}) {
      const { answer, change } = engine.handle({
        bytes,
        port,
        source: { address: from, port: fromPort },
        wire,
      })
      if (change) {
        changes.push(change)
        engine.addresses?.noteStored([change])
      }
      return answer
    },
  }
}

export interface Shown {
  readonly type: number | undefined
  readonly to: string
  readonly yiaddr: string
  readonly siaddr: string
  readonly file: string
  readonly sname: string
  readonly options: Record<number, string>
  readonly order: readonly number[]
  readonly packet: DhcpPacket
}

/** A reply, read back as a client would. */
export function shown(answer: DhcpAnswer): Shown {
  if (answer.kind === 'silent') throw new Error(`silent: ${answer.reason}`)
  const packet = packetOf(answer.bytes)
  return {
    type: packet.messageType,
    to: `${formatIpv4(answer.destination.address)}:${answer.destination.port}`,
    yiaddr: formatIpv4(packet.yiaddr),
    siaddr: formatIpv4(packet.siaddr),
    file: textOf(headerFile(packet)),
    sname: textOf(headerServerName(packet)),
    options: optionsOf(packet.options),
    order: packet.options.map(({ code }) => code),
    packet,
  }
}

/** Why nothing was answered; `answered` if something was. */
export function silenceOf(answer: DhcpAnswer): string {
  return answer.kind === 'silent' ? answer.reason : 'answered'
}

/** Text of an option of a reply. */
export function textOption(reply: Shown, code: number): string | undefined {
  const data = reply.packet.options.find((option) => option.code === code)?.data
  return data === undefined ? undefined : Buffer.from(data).toString('latin1')
}
