import type { LoadedConfig } from '../../config/load-config.ts'
import { formatIpv4 } from '../../core/ipv4.ts'
import { loaderPlatforms } from '../../core/loader.ts'
import { loadDeviceSockets } from '../../dhcp/bind-to-device.ts'
import { listInterfaceAddresses } from '../../dhcp/interface-addresses.ts'
import { defaultLoaderFiles } from '../../dhcp/loader-ladder.ts'
import type { PortFacts } from '../../doctor/check-ports.ts'
import type { ServiceFacts } from '../../doctor/check-service.ts'
import type { DoctorFacts } from '../../doctor/diagnose.ts'
import type { AdminOperations } from '../../http/admin/operations.ts'
import type { PatternSummary } from '../../http/admin/schemas/boots.ts'
import { readLoaderCatalogue } from '../../loaders/loader-catalogue.ts'
import { readLockOwner } from '../../state/directory-lock.ts'
import { realClock } from '../real-time.ts'
import { askUpstreams } from './ask-upstreams.ts'
import { askWires } from './ask-wires.ts'
import { fetchHandOuts } from './fetch-hand-outs.ts'
import { announcedAddresses, chosenLoaders, shimsOfStreams, wantedFetches } from './hand-outs.ts'
import { lookAtAddresses } from './look-at-addresses.ts'
import { lookAtRights } from './look-at-rights.ts'
import { lookAtDataDirectory, lookAtDisk } from './look-at-storage.ts'
import { lookAtSocketHolders } from './socket-holders.ts'
import { tryPort } from './try-port.ts'
import { wantedPorts } from './wanted-ports.ts'

/** The service on the data directory, as the command line found it. */
export type ServiceFound =
  | {
      readonly kind: 'running'
      readonly operations: Pick<AdminOperations, 'readiness' | 'streams' | 'boots'>
    }
  | { readonly kind: 'stopped' | 'denied' }

export interface GatherOptions {
  readonly loaded: LoadedConfig
  readonly service: ServiceFound
  /** Wires to look for other DHCP servers on, besides those that DHCP is configured for. */
  readonly interfaces?: readonly string[]
}

/** Long enough for servers that ping an address before they offer it. */
const dhcpWaitMs = 4_000
const upstreamWaitMs = 20_000

/** Looks at everything that `diagnose` judges. Changes nothing, and gives up nothing that runs. */
export async function gatherFacts({
  loaded,
  service: found,
  interfaces = [],
}: GatherOptions): Promise<DoctorFacts> {
  const { config, inventory } = loaded
  const devices = await loadDeviceSockets()
  const dhcpInterfaces = config.boot.dhcp?.interfaces ?? []
  const addresses = lookAtAddresses(dhcpInterfaces)
  const service = await lookAtService(found, config.dataDir)
  const patterns = await lookAtBoots(found)
  const isRunning = service.state === 'running'
  const catalogue = readLoaderCatalogue(config.boot.loaders)
  const chosen = chosenLoaders(inventory)
  const byInterface = new Map(
    [...listInterfaceAddresses()].map(([name, all]) => [name, all.map(formatIpv4)] as const),
  )
  const wanted = wantedFetches({
    config,
    catalogue,
    chosen: [...new Set([...chosen.map(({ name }) => name), ...shimsOfStreams(config)])],
    addresses: announcedAddresses(config, byInterface),
  })
  const isDhcpOurs = isRunning && config.boot.dhcp !== undefined
  const asked = [...new Set([...dhcpInterfaces, ...interfaces])]

  const [ports, wires, fetches, upstreams, disk] = await Promise.all([
    lookAtPorts(),
    askWires({
      interfaces: lookAtAddresses(asked).interfaces,
      devices,
      ourAddresses: new Set(isDhcpOurs ? addresses.ownAddresses : []),
      waitMs: dhcpWaitMs,
    }),
    isRunning ? fetchHandOuts(wanted, addresses.ownAddresses) : [],
    askUpstreams(config, upstreamWaitMs),
    lookAtDisk(config.dataDir),
  ])

  async function lookAtPorts(): Promise<readonly PortFacts[]> {
    const holders = lookAtSocketHolders()
    return Promise.all(
      wantedPorts(config).map(async (port) => ({
        ...port,
        holders: port.port === 0 ? [] : holders.of(port),
        bind: port.port === 0 ? ('not-tried' as const) : await tryPort(port, devices),
      })),
    )
  }

  return {
    service,
    ...(patterns === undefined ? {} : { patterns }),
    ports,
    rights: lookAtRights(isRunning ? service.pid : undefined, devices !== undefined),
    addresses,
    wires,
    loaders: { catalogue, firstLoaders: firstLoaders(), chosen },
    fetches,
    upstreams,
    ...(disk === undefined ? {} : { disk }),
    clock: {
      now: realClock.now(),
      serverTimes: upstreams.flatMap(({ serverTime }) => serverTime ?? []),
    },
    dataDirectory: lookAtDataDirectory(config.dataDir),
  }
}

async function lookAtService(found: ServiceFound, dataDir: string): Promise<ServiceFacts> {
  if (found.kind !== 'running') return { state: found.kind }
  try {
    const { parts } = await found.operations.readiness()
    const streams = await found.operations.streams()
    const pid = readLockOwner(dataDir)?.pid
    return {
      state: 'running',
      ...(pid === undefined ? {} : { pid }),
      parts,
      servedStreams: streams
        .filter(({ architectures }) => architectures.every(({ current }) => current !== undefined))
        .map(({ name }) => name),
    }
  } catch (error) {
    return { state: 'silent', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** A service that cannot say is told of by the check that asked it first. */
async function lookAtBoots(found: ServiceFound): Promise<readonly PatternSummary[] | undefined> {
  if (found.kind !== 'running') return undefined
  return found.operations.boots.listPatterns().catch(() => undefined)
}

function firstLoaders() {
  return Object.fromEntries(
    loaderPlatforms.flatMap((platform) => {
      const name = defaultLoaderFiles[platform]
      return name === undefined ? [] : [[platform, name]]
    }),
  )
}
