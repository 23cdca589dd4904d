import { join } from 'node:path'
import type { Config, DhcpConfig, DhcpSubnetConfig } from '../config/config.ts'
import type { Clock, Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { parseIpv4 } from '../core/ipv4.ts'
import type { Log } from '../core/log.ts'
import type { DhcpPorts } from '../dhcp/destination.ts'
import type { DhcpEvent } from '../dhcp/dhcp-event.ts'
import type { DhcpSettings, DhcpSubnet } from '../dhcp/dhcp-settings.ts'
import { parseExtraOption } from '../dhcp/extra-option.ts'
import { dhcpSocketsByInterface, type InheritedSocket } from '../dhcp/inherited-sockets.ts'
import { createLeaseLog } from '../dhcp/leases/lease-log.ts'
import { defaultLoaderFiles } from '../dhcp/loader-ladder.ts'
import type { DhcpTap } from '../dhcp/packet-tap.ts'
import { createDhcpServer, type DhcpServer } from '../dhcp/server.ts'
import { baseUrl } from '../http/boot/base-url.ts'
import type { DatagramBatch } from '../udp/datagram-batch.ts'
import { createDhcpAdvice, type DhcpAdviser } from './advise-dhcp.ts'

export interface StartDhcpOptions extends DhcpAdviser {
  readonly config: Config
  readonly dhcp: DhcpConfig
  /** Port of the boot listener, for URLs. */
  readonly bootPort: number
  readonly dataDirectory: string
  readonly inherited: readonly InheritedSocket[]
  /** Others than the usual ones. */
  readonly dhcpPorts?: DhcpPorts
  /** Many datagrams a call, where the system has that. */
  readonly batch?: DatagramBatch
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly onEvent: (event: DhcpEvent) => void
  /** For a capture. */
  readonly tap?: DhcpTap
}

/** @throws ServiceError CONFIG_INVALID for extra options, LISTEN_FAILED, STORAGE_FAILED */
export async function startDhcp(options: StartDhcpOptions): Promise<DhcpServer> {
  const { config, dhcp, clock, timers, log } = options
  const preferred = config.boot.address === undefined ? undefined : parseIpv4(config.boot.address.address)
  const server = createDhcpServer({
    settings: settingsOf(dhcp),
    interfaces: dhcp.interfaces,
    inherited: dhcpSocketsByInterface(options.inherited),
    decide: createDhcpAdvice(options, () => clock.now()),
    baseUrlOf: (address) =>
      baseUrl(config.boot.address ?? {}, { localAddress: address, localPort: options.bootPort }),
    ...(options.batch === undefined ? {} : { batch: options.batch }),
    ...(preferred === undefined ? {} : { preferredAddress: preferred }),
    ...(options.dhcpPorts === undefined ? {} : { ports: options.dhcpPorts }),
    ...(dhcp.mode === 'server'
      ? { leases: createLeaseLog({ path: join(options.dataDirectory, 'leases.log'), log }) }
      : {}),
    isReservedAddress: (address) => options.inventory().hostsByAddress.has(address),
    clock,
    timers,
    onEvent: options.onEvent,
    ...(options.tap === undefined ? {} : { tap: options.tap }),
  })
  await server.start()
  return server
}

function settingsOf(dhcp: DhcpConfig): DhcpSettings {
  const common = { style: dhcp.style, loaders: defaultLoaderFiles }
  if (dhcp.mode === 'proxy') return { mode: 'proxy', ...common }
  return {
    mode: 'server',
    ...common,
    subnets: dhcp.subnets.map(subnetOf),
    isAuthoritative: dhcp.isAuthoritative,
  }
}

function subnetOf({ options, ...subnet }: DhcpSubnetConfig, index: number): DhcpSubnet {
  const extraOptions = options.map((option) => {
    const parsed = parseExtraOption(option)
    if (parsed.option !== undefined) return parsed.option
    throw new ServiceError('CONFIG_INVALID', `boot.dhcp.subnets[${index}].options: ${parsed.problem}`)
  })
  return { ...subnet, extraOptions }
}
