import type { Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { formatIpv4, type Ipv4 } from '../core/ipv4.ts'
import type { DatagramBatch } from '../udp/datagram-batch.ts'
import type { DeviceSockets } from './bind-to-device.ts'
import type { Destination, DhcpPorts } from './destination.ts'
import type { DatagramSource, Wire } from './exchange.ts'
import type { InterfaceAddresses } from './interface-addresses.ts'
import { adoptSockets, openSockets, type PortRole, type WireSockets } from './open-sockets.ts'
import { createServerIdentity, type ServerIdentity } from './server-identity.ts'
import { createWireTraffic, type WireTraffic } from './wire-traffic.ts'

/** One interface and how far it is. */
export interface WireState {
  readonly interface: string
  readonly isReady: boolean
  /** Dotted quad. */
  readonly address?: string
  /** Why it is not ready. */
  readonly problem?: string
}

export interface WiresParts {
  readonly interfaces: readonly string[]
  /** File descriptors by interface; these interfaces are not opened here. */
  readonly inherited: ReadonlyMap<string, readonly number[]>
  readonly ports: DhcpPorts
  readonly devices: DeviceSockets | undefined
  readonly batch: DatagramBatch | undefined
  readonly listAddresses: () => InterfaceAddresses
  /** Taken where an interface has it; else its first address. */
  readonly preferredAddress: Ipv4 | undefined
  readonly baseUrlOf: (address: string) => string
  readonly timers: Timers
  /** `bytes` are valid during the call alone. */
  readonly onDatagram: (bytes: Uint8Array, port: PortRole, source: DatagramSource, wire: OpenWire) => void
  readonly onReady: (wire: string, address: string) => void
  readonly onProblem: (wire: string, problem: string) => void
  readonly onSendFailed: (wire: string, problem: string) => void
}

/** An interface as the engine sees it, and its way out. */
export interface OpenWire extends Wire {
  send(bytes: Buffer, port: PortRole, destination: Destination): void
  /** What is sent during `run` leaves in one call. */
  together(run: () => void): void
}

export interface Wires {
  /**
   * Opens what can be opened now. An interface without an address is waited for.
   * @throws ServiceError LISTEN_FAILED when a port is taken or not permitted
   */
  start(): Promise<void>
  stop(): Promise<void>
  states(): readonly WireState[]
  /** What is sent during `run` leaves in one call for each interface. */
  together(run: () => void): void
  identityOf(address: Ipv4): ServerIdentity | undefined
}

/** An address that appears is noticed within this time, and one that goes away. */
const pollMs = 1000

interface ManagedWire {
  readonly name: string
  readonly fds: readonly number[] | undefined
  server: ServerIdentity | undefined
  sockets: WireSockets | undefined
  traffic: WireTraffic | undefined
  problem: string | undefined
}

/** The interfaces that DHCP is served on: opened, watched, and opened again when their address changes. */
export function createWires(parts: WiresParts): Wires {
  const { interfaces, inherited, ports, devices, listAddresses, preferredAddress, baseUrlOf, timers } = parts
  const names = [...new Set([...inherited.keys(), ...interfaces])]
  const wires: readonly ManagedWire[] = names.map((name) => ({
    name,
    fds: inherited.get(name),
    server: undefined,
    sockets: undefined,
    traffic: undefined,
    problem: undefined,
  }))
  let cancelPoll: (() => void) | undefined
  let polling: Promise<void> | undefined
  let isStopped = false

  async function start(): Promise<void> {
    const unbound = wires.filter(({ fds }) => fds === undefined)
    if (wires.length > 1 && unbound.length > 0 && devices === undefined) {
      throw new ServiceError(
        'LISTEN_FAILED',
        `DHCP on several interfaces (${names.join(', ')}) needs the optional package koffi, or a socket unit for each`,
        { interfaces: names },
      )
    }
    try {
      await settle((error) => {
        throw error
      })
    } catch (error) {
      closeAll()
      throw error
    }
    schedulePoll()
  }

  function schedulePoll(): void {
    if (isStopped) return
    cancelPoll = timers.after(pollMs, () => {
      polling = settle(() => undefined).finally(schedulePoll)
    })
  }

  /** Brings every interface into line with the addresses of this moment. */
  async function settle(onError: (error: unknown) => void): Promise<void> {
    const addresses = listAddresses()
    for (const wire of wires) {
      if (isStopped) return
      try {
        await settleWire(wire, addresses.get(wire.name) ?? [])
      } catch (error) {
        reportProblem(wire, error instanceof Error ? error.message : String(error))
        onError(error)
      }
    }
  }

  async function settleWire(wire: ManagedWire, addresses: readonly Ipv4[]): Promise<void> {
    if (wire.fds !== undefined && wire.sockets === undefined) {
      wire.sockets = listen(wire, await adoptSockets(wire.name, wire.fds, ports))
    }
    const address = addresses.find((each) => each === preferredAddress) ?? addresses[0]
    if (address === undefined) {
      if (wire.server !== undefined || wire.problem === undefined)
        reportProblem(wire, 'has no IPv4 address yet')
      wire.server = undefined
      closeOpened(wire)
      return
    }
    if (wire.server?.address === address && wire.sockets !== undefined) return
    closeOpened(wire)
    wire.server = undefined
    wire.sockets ??= listen(wire, await openSockets(wire.name, address, ports, devices))
    const text = formatIpv4(address)
    wire.server = createServerIdentity(address, baseUrlOf(text))
    wire.problem = undefined
    parts.onReady(wire.name, text)
  }

  function listen(wire: ManagedWire, sockets: WireSockets): WireSockets {
    const traffic = createWireTraffic({
      sockets,
      batch: parts.batch,
      onDatagram: (bytes, role, source) => parts.onDatagram(bytes, role, source, open),
      onError(error) {
        reportProblem(wire, error.message)
        wire.server = undefined
      },
      onSendFailed: (problem) => parts.onSendFailed(wire.name, problem),
    })
    wire.traffic = traffic
    const open: OpenWire = {
      interface: wire.name,
      get server() {
        return wire.server
      },
      send: traffic.send,
      together: traffic.together,
    }
    return sockets
  }

  function closeSockets(wire: ManagedWire): void {
    wire.traffic?.end()
    wire.sockets?.close()
    wire.traffic = undefined
    wire.sockets = undefined
  }

  /** Inherited sockets cannot be opened again, so they stay open without an address. */
  function closeOpened(wire: ManagedWire): void {
    if (wire.fds !== undefined) return
    closeSockets(wire)
  }

  function closeAll(): void {
    for (const wire of wires) {
      closeSockets(wire)
      wire.server = undefined
    }
  }

  function reportProblem(wire: ManagedWire, problem: string): void {
    if (wire.problem === problem) return
    wire.problem = problem
    parts.onProblem(wire.name, problem)
  }

  function togetherFrom(index: number, run: () => void): void {
    const wire = wires[index]
    if (wire === undefined) run()
    else if (wire.traffic === undefined) togetherFrom(index + 1, run)
    else wire.traffic.together(() => togetherFrom(index + 1, run))
  }

  return {
    start,
    async stop() {
      isStopped = true
      cancelPoll?.()
      await polling
      closeAll()
    },
    states: () =>
      wires.map(({ name, server, problem }) => ({
        interface: name,
        isReady: server !== undefined,
        ...(server === undefined ? undefined : { address: server.addressText }),
        ...(problem === undefined ? undefined : { problem }),
      })),
    together: (run) => togetherFrom(0, run),
    identityOf: (address) => wires.find(({ server }) => server?.address === address)?.server,
  }
}
