import type { Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { formatIpv4, type Ipv4 } from '../core/ipv4.ts'
import type { DeviceSockets } from './bind-to-device.ts'
import type { Destination, DhcpPorts } from './destination.ts'
import type { DatagramSource, Wire } from './exchange.ts'
import type { InterfaceAddresses } from './interface-addresses.ts'
import { adoptSockets, openSockets, type PortRole, type WireSockets } from './open-sockets.ts'
import { createServerIdentity, type ServerIdentity } from './server-identity.ts'

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
  readonly listAddresses: () => InterfaceAddresses
  /** Taken where an interface has it; else its first address. */
  readonly preferredAddress: Ipv4 | undefined
  readonly baseUrlOf: (address: string) => string
  readonly timers: Timers
  readonly onDatagram: (bytes: Buffer, port: PortRole, source: DatagramSource, wire: OpenWire) => void
  readonly onReady: (wire: string, address: string) => void
  readonly onProblem: (wire: string, problem: string) => void
  readonly onSendFailed: (wire: string, problem: string) => void
}

/** An interface as the engine sees it, and its way out. */
export interface OpenWire extends Wire {
  send(bytes: Buffer, port: PortRole, destination: Destination): void
}

export interface Wires {
  /**
   * Opens what can be opened now. An interface without an address is waited for.
   * @throws ServiceError LISTEN_FAILED when a port is taken or not permitted
   */
  start(): Promise<void>
  stop(): Promise<void>
  states(): readonly WireState[]
  identityOf(address: Ipv4): ServerIdentity | undefined
}

/** An address that appears is noticed within this time, and one that goes away. */
const pollMs = 1000

interface ManagedWire {
  readonly name: string
  readonly fds: readonly number[] | undefined
  server: ServerIdentity | undefined
  sockets: WireSockets | undefined
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
    const open = openWire(wire)
    for (const { socket, role } of sockets.receivers) {
      socket.on('message', (bytes, source) => parts.onDatagram(bytes, role, source, open))
      socket.on('error', (error) => {
        reportProblem(wire, error.message)
        wire.server = undefined
      })
    }
    return sockets
  }

  function openWire(wire: ManagedWire): OpenWire {
    // One for all packets: a function a packet would cost as much as the packet.
    const onSent = (error: Error | null): void => {
      if (error) parts.onSendFailed(wire.name, error.message)
    }
    return {
      interface: wire.name,
      get server() {
        return wire.server
      },
      send(bytes, port, { address, port: toPort }) {
        wire.sockets?.senders[port].send(bytes, toPort, formatIpv4(address), onSent)
      },
    }
  }

  /** Inherited sockets cannot be opened again, so they stay open without an address. */
  function closeOpened(wire: ManagedWire): void {
    if (wire.fds !== undefined) return
    wire.sockets?.close()
    wire.sockets = undefined
  }

  function closeAll(): void {
    for (const wire of wires) {
      wire.sockets?.close()
      wire.sockets = undefined
      wire.server = undefined
    }
  }

  function reportProblem(wire: ManagedWire, problem: string): void {
    if (wire.problem === problem) return
    wire.problem = problem
    parts.onProblem(wire.name, problem)
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
    identityOf: (address) => wires.find(({ server }) => server?.address === address)?.server,
  }
}
