import { answerScriptName } from '../boot/answer-script-name.ts'
import type { SecretService } from '../boot/secret-service.ts'
import type { Sighting } from '../boot/strangers.ts'
import type { Config } from '../config/config.ts'
import type { BootEvent } from '../core/boot-event.ts'
import type { Clock, Timers } from '../core/clock.ts'
import { formatIpv4, parseIpv4 } from '../core/ipv4.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import type { SeenMachines } from '../core/seen-machines.ts'
import type { DhcpPorts } from '../dhcp/destination.ts'
import type { DhcpEvent } from '../dhcp/dhcp-event.ts'
import { createDhcpEventLog } from '../dhcp/event-log.ts'
import type { InheritedSocket } from '../dhcp/inherited-sockets.ts'
import { listInterfaceAddresses } from '../dhcp/interface-addresses.ts'
import type { DhcpServer } from '../dhcp/server.ts'
import type { PartReadiness } from '../http/admin/operations.ts'
import { baseUrl } from '../http/boot/base-url.ts'
import type { Renderer } from '../render/renderer.ts'
import type { DhcpFigures, TftpFigures } from '../telemetry/network-metrics.ts'
import type { TftpEvent } from '../tftp/event.ts'
import { createTftpEventLog } from '../tftp/event-log.ts'
import { createRequestTally } from '../tftp/request-tally.ts'
import { createTftpServer, type TftpServer } from '../tftp/server.ts'
import { loadKernelUdp } from '../udp/kernel-udp.ts'
import { bootStepOfDhcp, strangerOfDhcp } from './boot-steps.ts'
import type { Engine } from './engine.ts'
import { createEventQueue } from './event-queue.ts'
import type { LoaderShelf } from './loader-shelf.ts'
import { type StartedCapture, startCapture } from './start-capture.ts'
import { startDhcp } from './start-dhcp.ts'
import { createTftpFiles, type TftpConfigName } from './tftp-files.ts'
import { type OwnAddresses, tftpListen } from './tftp-listen.ts'
import { bootStepOfTftp } from './tftp-steps.ts'
import { createTftpSubject } from './tftp-subject.ts'

export interface BootNetworkOptions {
  readonly config: Config
  /** Of the boot listener, for URLs. */
  readonly bootPort: number
  readonly engine: Engine
  readonly renderer: Renderer
  readonly secrets: SecretService
  readonly loaders: Pick<LoaderShelf, 'current' | 'refresh'>
  /** Sockets from the service manager. */
  readonly inherited: readonly InheritedSocket[]
  /** Others than the usual ones. */
  readonly dhcpPorts?: DhcpPorts
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** Steps of boots, one each, as the boot listener tells of its own. */
  readonly onBootEvent: (event: BootEvent) => void
  /** DHCP does not answer a machine that is ignored, and no boot event tells of it. */
  readonly onStranger: (sighting: Sighting) => void
}

/** DHCP and TFTP, as far as the configuration turns them on. */
export interface BootNetwork extends SeenMachines {
  parts(): readonly PartReadiness[]
  /** For each of the two that is on. */
  figures(): { readonly dhcp?: () => DhcpFigures; readonly tftp?: () => TftpFigures }
  /** A machine speaks HTTP with us from this address: what DHCP told it was not in vain. */
  noteContact(address: string): void
  /** A machine has fetched what was decided for it: its loader runs and goes on. */
  noteDecision(mac: MacAddress): void
  /** The packets of its last boots; `undefined` where none are kept. */
  readonly captureOf: StartedCapture['captureOf']
  /** Where TFTP listens now. */
  tftpAddresses(): readonly { readonly address: string; readonly port: number }[]
  stop(): Promise<void>
}

/** @throws ServiceError LISTEN_FAILED naming the port and what to do */
export async function startBootNetwork(options: BootNetworkOptions): Promise<BootNetwork> {
  const { config, engine, clock, timers, log, onBootEvent } = options
  let dhcp: DhcpServer | undefined
  let tftp: TftpServer | undefined

  const logDhcpEvent = createDhcpEventLog({ log, clock })
  const logTftpEvent = createTftpEventLog(log, clock, macOf)
  const requests = createRequestTally()
  // A packet has its answer before the log hears of it.
  const dhcpEvents = createEventQueue<DhcpEvent>((event) => {
    logDhcpEvent(event)
    const stranger = strangerOfDhcp(event)
    if (stranger !== undefined) options.onStranger(stranger)
    const step = bootStepOfDhcp(event)
    if (step !== undefined) onBootEvent(step)
  })
  const subjectOf = createTftpSubject({ catalog: engine.publisher, loaders: options.loaders })
  const tftpEvents = createEventQueue<TftpEvent>((event) => {
    logTftpEvent(event)
    const step = bootStepOfTftp(event, { macOf, subjectOf })
    if (step !== undefined) onBootEvent(step)
  })

  const baseUrlOf = (address: string) =>
    baseUrl(config.boot.address ?? {}, { localAddress: address, localPort: options.bootPort })

  /** The decision in the words of a loader that has no HTTP, under the name that it asks for. */
  function scriptFor(
    name: TftpConfigName,
    asked: { readonly address: string; readonly baseUrl: string },
  ): { readonly text: string; readonly isEntry?: boolean } | undefined {
    const loader = name.kind === 'grub-config' ? 'grub' : 'pxelinux'
    const answer = answerScriptName(
      { loader, name: name.key, fetch: 'tftp', ...asked },
      {
        bootService: engine.bootService,
        renderer: options.renderer,
        secrets: options.secrets,
        seen: { macOf, addressOf, machineOf: (mac) => dhcp?.machineOf(mac) },
        ignoredMachines: config.boot.http.ignoredMachines,
        log,
      },
    )
    return answer.kind === 'not-here' ? undefined : answer
  }

  const capture = startCapture({
    memoryBytes: config.capture?.memoryBytes,
    isKnown: (mac) => engine.fleet.inventory().hostsByMac.has(mac),
    macOf: (address) => dhcp?.macOf(address),
    addressOf: (mac) => dhcp?.addressOf(mac),
    clock,
  })
  const kernel = await loadKernelUdp()
  if (config.boot.tftp !== undefined) {
    const { ports, maxBlockSize } = config.boot.tftp
    tftp = createTftpServer({
      files: createTftpFiles({
        catalog: engine.publisher,
        loaders: options.loaders,
        renderer: options.renderer,
        onFileProblem: (sha256) => void engine.recheck(sha256),
        baseUrlOf,
        configFor: (name, { address, localAddress }) =>
          scriptFor(name, { address, baseUrl: baseUrlOf(localAddress) }),
        inventory: () => engine.fleet.inventory(),
      }),
      listen: tftpListen({ config, inherited: options.inherited, addresses: ownAddresses(), log }),
      ports,
      ...(maxBlockSize === undefined ? {} : { maxBlockSize }),
      ...(kernel === undefined ? {} : { kernel }),
      ...(capture.tftpTap && { tap: capture.tftpTap }),
      clock,
      timers,
      onEvent(event) {
        requests.note(event)
        tftpEvents.push(event)
        // It is not as it was catalogued: a package was updated.
        if (event.type === 'refused' && event.reason === 'file-unreadable') options.loaders.refresh()
        const mac = event.type === 'requested' ? macOf(event.client.address) : undefined
        if (mac !== undefined) dhcp?.noteContact(mac)
      },
    })
    await tftp.start()
  }
  if (config.boot.dhcp !== undefined) {
    try {
      dhcp = await startDhcp({
        ...options,
        dhcp: config.boot.dhcp,
        ...(kernel?.batch === undefined ? {} : { batch: kernel.batch }),
        bootService: engine.bootService,
        inventory: () => engine.fleet.inventory(),
        streams: () => engine.loaded().config.streams,
        dataDirectory: engine.storage.directory.path,
        onEvent: dhcpEvents.push,
        ...(capture.dhcpTap && { tap: capture.dhcpTap }),
      })
    } catch (error) {
      await tftp?.stop()
      throw error
    }
  }

  function macOf(address: string): MacAddress | undefined {
    const parsed = parseIpv4(address)
    return parsed === undefined ? undefined : dhcp?.macOf(parsed)
  }

  function addressOf(mac: MacAddress): string | undefined {
    const address = dhcp?.addressOf(mac)
    return address === undefined ? undefined : formatIpv4(address)
  }

  const machineOf = (mac: MacAddress) => dhcp?.machineOf(mac)
  const dhcpFigures = (server: DhcpServer) => (): DhcpFigures => ({
    ...server.counts(),
    troubles: server.troubles(),
    pools: server.usage(),
  })
  const tftpFigures = (server: TftpServer) => (): TftpFigures => ({
    ...requests.counts(),
    activeTransfers: server.activeTransfers,
  })

  return {
    macOf,
    addressOf,
    machineOf,
    figures: () => ({
      ...(dhcp === undefined ? {} : { dhcp: dhcpFigures(dhcp) }),
      ...(tftp === undefined ? {} : { tftp: tftpFigures(tftp) }),
    }),
    noteContact(address) {
      const mac = dhcp === undefined ? undefined : macOf(address)
      if (mac !== undefined) dhcp?.noteContact(mac)
    },
    noteDecision: (mac) => dhcp?.noteDecision(mac),
    captureOf: capture.captureOf,
    tftpAddresses: () => tftp?.listening ?? [],
    parts() {
      const parts: PartReadiness[] = []
      if (tftp !== undefined) {
        const reason = 'an address that it is to listen on is not there yet'
        parts.push({ part: 'tftp', ready: tftp.isReady, ...(tftp.isReady ? {} : { reason }) })
      }
      if (dhcp !== undefined) parts.push(dhcpPart(dhcp))
      return parts
    },
    async stop() {
      await dhcp?.stop()
      await tftp?.stop(1_000)
      dhcpEvents.drain()
      tftpEvents.drain()
    },
  }
}

function dhcpPart(dhcp: DhcpServer): PartReadiness {
  if (dhcp.isReady()) return { part: 'dhcp', ready: true }
  const waiting = dhcp.wires().filter(({ isReady }) => !isReady)
  const reason =
    waiting.length === 0
      ? 'leases cannot be stored'
      : waiting.map(({ interface: name, problem }) => `${name}: ${problem ?? 'not ready'}`).join('; ')
  return { part: 'dhcp', ready: false, reason }
}

function ownAddresses(): OwnAddresses {
  return new Map([...listInterfaceAddresses()].map(([name, addresses]) => [name, addresses.map(formatIpv4)]))
}
