import type { Config } from '../config/config.ts'
import { isInSubnet, parseIpv4 } from '../core/ipv4.ts'
import { checkBoots, type PatternFacts } from './check-boots.ts'
import { type ClockFacts, checkClock } from './check-clock.ts'
import { checkDataDirectory, type DataDirectoryFacts } from './check-data-directory.ts'
import { checkDhcp, type WireFacts } from './check-dhcp.ts'
import { checkDisk, type DiskFacts } from './check-disk.ts'
import { checkFetches, type FetchFacts } from './check-fetches.ts'
import { checkAnyStream } from './check-followed.ts'
import { type AddressFacts, checkInterfaces, type InterfacesWanted } from './check-interfaces.ts'
import { checkLoaders, type LoaderFacts } from './check-loaders.ts'
import { checkPorts, type PortFacts } from './check-ports.ts'
import { checkRights, type RightsFacts } from './check-rights.ts'
import { checkService, type ServiceFacts } from './check-service.ts'
import { checkUpstream, type UpstreamFacts } from './check-upstream.ts'
import type { Finding } from './finding.ts'

/** What was seen of this machine, its network and its service, at one moment. */
export interface DoctorFacts {
  readonly service: ServiceFacts
  /** Of the running service; absent where none could be asked. */
  readonly patterns?: readonly PatternFacts[]
  readonly ports: readonly PortFacts[]
  readonly rights: RightsFacts
  readonly addresses: AddressFacts
  readonly wires: readonly WireFacts[]
  readonly loaders: LoaderFacts
  readonly fetches: readonly FetchFacts[]
  readonly upstreams: readonly UpstreamFacts[]
  /** Absent when it cannot be measured. */
  readonly disk?: DiskFacts
  readonly clock: ClockFacts
  readonly dataDirectory: DataDirectoryFacts
}

/** Every finding about what was seen, in the order of `checkNames`. Pure. */
export function diagnose(config: Config, facts: DoctorFacts): readonly Finding[] {
  const { dataDir, boot, streams } = config
  const { service } = facts
  const isRunning = service.state === 'running'
  const { dhcp } = boot
  const architectures = [...new Set([...streams.values()].flatMap((stream) => stream.architectures))]
  const followed = [...streams.values()].reduce((sum, stream) => sum + stream.architectures.length, 0)
  return [
    ...checkService(service, dataDir),
    ...checkBoots(facts.patterns),
    ...checkPorts(facts.ports, service),
    ...checkRights(
      facts.rights,
      { ports: facts.ports.map(({ port }) => port), dhcpInterfaces: dhcp?.interfaces ?? [] },
      service,
    ),
    ...checkInterfaces(facts.addresses, interfacesWanted(config)),
    ...checkDhcp(facts.wires, { mode: dhcp?.mode ?? 'off', isRunning }),
    ...checkLoaders(facts.loaders, {
      architectures,
      handsOut: dhcp !== undefined || boot.tftp !== undefined,
    }),
    ...checkFetches(facts.fetches, {
      isRunning,
      isDhcpOn: dhcp !== undefined,
      isTftpOn: boot.tftp !== undefined,
    }),
    ...checkAnyStream([...streams.keys()]),
    ...checkUpstream(facts.upstreams, new Set(isRunning ? service.servedStreams : [])),
    ...checkDisk(facts.disk, { followed }),
    ...checkClock(facts.clock),
    ...checkDataDirectory(facts.dataDirectory, service),
  ]
}

/** What the interfaces of this machine must be like for a configuration. */
export function interfacesWanted({ boot: { dhcp, address } }: Config): InterfacesWanted {
  return {
    ...(dhcp !== undefined && {
      dhcp: {
        mode: dhcp.mode,
        interfaces: dhcp.interfaces,
        isOurs: (text) => {
          const own = parseIpv4(text)
          return own !== undefined && dhcp.subnets.some(({ subnet }) => isInSubnet(own, subnet))
        },
      },
    }),
    ...(address !== undefined && { bootAddress: address.address }),
  }
}
