import type { Clock, Timers } from '../core/clock.ts'
import { type Ipv4, limitedBroadcastIpv4, parseIpv4, unspecifiedIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import type { DatagramBatch } from '../udp/datagram-batch.ts'
import { type AckQueue, createAckQueue } from './ack-queue.ts'
import { type DhcpReply, silence } from './answer.ts'
import { type DeviceSockets, loadDeviceSockets } from './bind-to-device.ts'
import { type DhcpPorts, standardPorts } from './destination.ts'
import type { DecideForDhcp } from './dhcp-advice.ts'
import type { DhcpEvent } from './dhcp-event.ts'
import type { DhcpSettings } from './dhcp-settings.ts'
import { createDhcpEngine, type EngineResult } from './engine.ts'
import type { Datagram, DatagramSource } from './exchange.ts'
import type { ClientKey } from './hardware-address.ts'
import { type InterfaceAddresses, listInterfaceAddresses } from './interface-addresses.ts'
import type { PoolUsage } from './leases/allocate.ts'
import type { LeaseStore } from './leases/lease.ts'
import type { PortRole } from './open-sockets.ts'
import { createPacketTally, type DhcpCounts } from './packet-tally.ts'
import { type DhcpTap, isRelayed, senderOf } from './packet-tap.ts'
import type { PxeClient } from './pxe-client.ts'
import { createTroubleTally, type Trouble } from './trouble-tally.ts'
import { createWires, type OpenWire, type WireState } from './wires.ts'

export interface DhcpServerParts {
  readonly settings: DhcpSettings
  /** Interfaces to open; those with inherited sockets need not be named. */
  readonly interfaces: readonly string[]
  /** File descriptors by interface; see `dhcpSocketsByInterface`. */
  readonly inherited?: ReadonlyMap<string, readonly number[]>
  /** The boot decision, from memory. */
  readonly decide: DecideForDhcp
  /** Our URL for clients that asked this address of ours (a dotted quad): no slash at the end. */
  readonly baseUrlOf: (address: string) => string
  /** Announced where an interface has it; else the interface's first address is. */
  readonly preferredAddress?: Ipv4
  /** Needed in server mode. */
  readonly leases?: LeaseStore
  /** Whether a host record reserves an address. */
  readonly isReservedAddress?: (address: Ipv4) => boolean
  readonly clock: Clock
  readonly timers: Timers
  readonly onEvent: (event: DhcpEvent) => void
  readonly ports?: DhcpPorts
  readonly listAddresses?: () => InterfaceAddresses
  readonly loadDevices?: () => Promise<DeviceSockets | undefined>
  /** Default: one call a datagram. */
  readonly batch?: DatagramBatch
  /** For a capture. */
  readonly tap?: DhcpTap
}

export interface DhcpServer {
  /**
   * Loads the leases and opens the sockets. Interfaces without an address yet are waited for.
   * @throws ServiceError LISTEN_FAILED (port and what to do), STORAGE_FAILED
   */
  start(): Promise<void>
  /** Stores and sends what waits, and closes everything. */
  stop(): Promise<void>
  /** Ready when every interface is and leases can be stored. */
  isReady(): boolean
  wires(): readonly WireState[]
  counts(): DhcpCounts
  troubles(): Readonly<Record<Trouble, number>>
  usage(): readonly (PoolUsage & { readonly subnet: string })[]
  /** Which address a machine was last seen to have: for TFTP names made from addresses, and for `bind: address`. */
  addressOf(mac: MacAddress): Ipv4 | undefined
  macOf(address: Ipv4): MacAddress | undefined
  /** What a machine's firmware last said of it. */
  machineOf(mac: MacAddress): PxeClient | undefined
  /** A machine went on by TFTP or HTTP: its offers were not in vain. */
  noteContact(mac: MacAddress): void
  /** A machine fetched what was decided for it, so the loader that it was handed runs and goes on. */
  noteDecision(mac: MacAddress): void
  unansweredClients(): readonly ClientKey[]
}

/** DHCP on the wire: receives, asks the engine, stores what must be stored, sends. */
export function createDhcpServer(parts: DhcpServerParts): DhcpServer {
  const { settings, clock, timers, leases, ports = standardPorts } = parts
  const packets = createPacketTally()
  const troubles = createTroubleTally()
  let wires: ReturnType<typeof createWires> | undefined
  let acks: AckQueue | undefined
  let areLeasesStored = true
  let isStopping = false

  function onEvent(event: DhcpEvent): void {
    troubles.note(event)
    parts.onEvent(event)
  }

  const engine = createDhcpEngine({
    settings,
    ports,
    decide: parts.decide,
    clock,
    onEvent,
    isReservedAddress: parts.isReservedAddress ?? (() => false),
    identityOf: (address) => wires?.identityOf(address),
  })

  function onDatagram(bytes: Uint8Array, port: PortRole, source: DatagramSource, wire: OpenWire): void {
    if (isStopping) return
    if (parts.tap !== undefined) tapReceived(parts.tap, bytes, port, source, wire)
    const { answer, change, messageType } = handleSafely({ bytes, port, source, wire })
    if (answer.kind === 'silent') packets.noteSilence(messageType, answer.reason)
    if (change === undefined || acks === undefined) {
      if (answer.kind !== 'silent') sendReply(wire, port, answer, messageType)
      return
    }
    acks.push(change, answer.kind === 'silent' ? nothing : () => sendReply(wire, port, answer, messageType))
  }

  function tapReceived(
    tap: DhcpTap,
    bytes: Uint8Array,
    port: PortRole,
    source: DatagramSource,
    { server }: OpenWire,
  ): void {
    const ownAddress = server?.address ?? unspecifiedIpv4
    if (port === 'proxy') {
      const peer = parseIpv4(source.address) ?? unspecifiedIpv4
      tap(bytes, false, ownAddress, ports.proxy, peer, source.port)
      return
    }
    const peer = senderOf(bytes)
    // Who has no address yet can reach nobody but everybody.
    const local = peer === 0 ? limitedBroadcastIpv4 : ownAddress
    tap(bytes, false, local, ports.server, peer, isRelayed(bytes) ? ports.server : ports.client)
  }

  /** A mistake of ours must cost one machine one answer, not all machines the service (field case 38). */
  function handleSafely(datagram: Datagram): EngineResult {
    try {
      return engine.handle(datagram)
    } catch (error) {
      const problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
      const packet = Buffer.from(datagram.bytes).toString('hex')
      onEvent({ type: 'packet-failed', at: clock.now(), interface: datagram.wire.interface, problem, packet })
      return { answer: silence('packet-failed'), change: undefined, messageType: undefined }
    }
  }

  function sendReply(
    wire: OpenWire,
    port: PortRole,
    reply: DhcpReply,
    messageType: number | undefined,
  ): void {
    packets.noteReply(messageType, reply.kind)
    const { bytes, destination } = reply
    const local = wire.server?.address ?? unspecifiedIpv4
    parts.tap?.(bytes, true, local, ports[port], destination.address, destination.port)
    wire.send(reply.bytes, port, reply.destination)
  }

  async function start(): Promise<void> {
    if (engine.addresses !== undefined) acks = await startLeases(engine.addresses)
    const starting = createWires({
      interfaces: parts.interfaces,
      inherited: parts.inherited ?? new Map(),
      ports,
      devices: await (parts.loadDevices ?? loadDeviceSockets)(),
      batch: parts.batch,
      listAddresses: parts.listAddresses ?? listInterfaceAddresses,
      preferredAddress: parts.preferredAddress,
      baseUrlOf: parts.baseUrlOf,
      timers,
      onDatagram,
      onReady: (name, address) =>
        onEvent({ type: 'interface-ready', at: clock.now(), interface: name, address }),
      onProblem: (name, problem) =>
        onEvent({ type: 'interface-not-ready', at: clock.now(), interface: name, problem }),
      onSendFailed: (name, problem) =>
        onEvent({ type: 'send-failed', at: clock.now(), interface: name, problem }),
    })
    wires = starting
    await starting.start()
  }

  async function startLeases(addresses: NonNullable<typeof engine.addresses>): Promise<AckQueue> {
    if (leases === undefined) throw new TypeError('DHCP in server mode needs a lease store')
    const nowSeconds = (): number => Math.floor(clock.now() / 1000)
    const remembered = await leases.load()
    addresses.restore(remembered, nowSeconds())
    engine.follower.learnFromLeases(addresses.changes(nowSeconds()))
    if (leases.isRewriteDue) await leases.rewrite(addresses.changes(nowSeconds()))
    return createAckQueue({
      store: leases,
      together: (run) => (wires === undefined ? run() : wires.together(run)),
      allChanges: () => addresses.changes(nowSeconds()),
      onStored(changes) {
        areLeasesStored = true
        addresses.noteStored(changes)
      },
      onFailed(error, changes) {
        areLeasesStored = false
        const problem = error instanceof Error ? error.message : String(error)
        onEvent({ type: 'leases-not-stored', at: clock.now(), problem, changes: changes.length })
      },
    })
  }

  return {
    start,
    async stop() {
      isStopping = true
      await acks?.drain()
      await wires?.stop()
      await leases?.close()
    },
    isReady: () => areLeasesStored && (wires?.states().every(({ isReady }) => isReady) ?? false),
    wires: () => wires?.states() ?? [],
    counts: packets.counts,
    troubles: troubles.counts,
    usage: () => engine.addresses?.usage(Math.floor(clock.now() / 1000)) ?? [],
    addressOf: (mac) => engine.follower.learned.addressOf(mac),
    macOf: (address) => engine.follower.learned.macOf(address),
    machineOf: engine.follower.machineOf,
    noteContact: engine.follower.noteContact,
    noteDecision: engine.follower.noteDecision,
    unansweredClients: engine.follower.unansweredClients,
  }
}

function nothing(): void {}
