import type { Socket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import type { Clock, Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { KernelUdp } from '../udp/kernel-udp.ts'
import { widenReceiveBuffer } from '../udp/receive-buffer.ts'
import { createAdmission } from './admission.ts'
import type { BlockWrap } from './block-number.ts'
import { createConnectedSource } from './connected-endpoint.ts'
import { createContentOpener } from './content.ts'
import { bindSocket, createLiteralSocket, type EndpointSource, errorCodeOf } from './endpoint.ts'
import type { TftpEvent } from './event.ts'
import type { TftpFiles } from './files.ts'
import { createFrameCache } from './frame-cache.ts'
import { createInterfaceMtu, type MtuOf } from './interface-mtu.ts'
import { createListener, type Listener } from './listener.ts'
import { addressesBehind, isWildcard } from './local-addresses.ts'
import { largestWindowSize } from './negotiate.ts'
import type { ServeContext } from './serve-request.ts'
import type { TftpTap } from './tftp-tap.ts'
import { createEphemeralPorts, createPortRange } from './transfer-ports.ts'
import { openTransferSockets } from './transfer-sockets.ts'

export type TftpListen =
  /** A wildcard means each of this machine's addresses, also those that appear later. */
  | { readonly kind: 'address'; readonly address: string; readonly port: number }
  /** A bound socket from the service manager. `localAddress` says which address it answers from when it is a wildcard. */
  | { readonly kind: 'inherited'; readonly fd: number; readonly localAddress?: string }

export type TftpPorts =
  /** A port for each transfer, as the system chooses. */
  | { readonly mode: 'each' }
  | { readonly mode: 'range'; readonly first: number; readonly last: number }
  /** A few ports that transfers take turns on; needs `kernel`, without which it is as `each`. */
  | { readonly mode: 'few' }
  /** All transfers from the listening port (field case 77). */
  | { readonly mode: 'single' }

export interface TftpServerOptions {
  readonly files: TftpFiles
  readonly listen: readonly TftpListen[]
  /** Default: `few`. */
  readonly ports?: TftpPorts
  /** Transfers at once; beyond it requests get no answer, and clients ask again (field case 78). */
  readonly limits?: { readonly total?: number; readonly perClient?: number }
  /** An operator's cap, for paths narrower than the interface (field case 66). */
  readonly maxBlockSize?: number
  readonly maxWindowSize?: number
  readonly wrap?: BlockWrap
  /** Bytes of framed files in memory, at most. */
  readonly cacheBytes?: number
  /** From `loadKernelUdp`; absent: one call a packet. */
  readonly kernel?: KernelUdp
  readonly mtuOf?: MtuOf
  readonly clock: Clock
  readonly timers: Timers
  /** Monotonic milliseconds; default `performance.now`. */
  readonly now?: () => number
  readonly onEvent: (event: TftpEvent) => void
  /** For a capture. */
  readonly tap?: TftpTap
}

export interface TftpServer {
  /**
   * Opens what can be opened. An address that does not exist yet is opened within seconds of its appearance.
   * @throws ServiceError LISTEN_FAILED when a port is taken or may not be used
   */
  start(): Promise<void>
  /** Takes no new requests, lets transfers go on for `graceMs`, then ends them. Stopping twice is fine. */
  stop(graceMs?: number): Promise<void>
  /** Where it listens now, as `address:port`. */
  readonly listening: readonly { readonly address: string; readonly port: number }[]
  /** Every address that was asked for is listened on. */
  readonly isReady: boolean
  readonly activeTransfers: number
}

export const defaultTotalLimit = 2048
export const defaultPerClientLimit = 512
const defaultCacheBytes = 64 * 1024 * 1024
/** Five hundred machines that are switched on together ask within one turn of the event loop. */
const receiveBufferBytes = 4 * 1024 * 1024
const addressCheckMs = 2_000
const stopCheckMs = 50

interface OpenListener {
  readonly address: string
  readonly port: number
  readonly listener: Listener
}

function listenFailed(address: string, port: number, cause: NodeJS.ErrnoException): ServiceError {
  const where = `${address} port ${port}`
  const hints: Readonly<Record<string, string>> = {
    EADDRINUSE: `TFTP: ${where} is taken by another process; stop that TFTP server or choose another port (boot.tftp.listen)`,
    EACCES: `TFTP: ${where} may not be opened by this user; give the service CAP_NET_BIND_SERVICE or an inherited socket`,
  }
  const message = hints[cause.code ?? ''] ?? `TFTP: ${where} could not be opened: ${cause.message}`
  return new ServiceError('LISTEN_FAILED', message, { address, port, code: cause.code }, cause)
}

/** Serves files by TFTP on any number of addresses. */
export function createTftpServer(options: TftpServerOptions): TftpServer {
  const { files, clock, timers, onEvent } = options
  const now = options.now ?? (() => performance.now())
  const wrap = options.wrap ?? 0
  const portMode = options.ports ?? { mode: 'few' }
  const { kernel } = options
  const context: ServeContext = {
    files,
    contents: createContentOpener(),
    frames: createFrameCache({ maxBytes: options.cacheBytes ?? defaultCacheBytes, wrap }),
    mtuOf: options.mtuOf ?? createInterfaceMtu(now),
    wrap,
    ...(options.maxBlockSize === undefined ? {} : { maxBlockSize: options.maxBlockSize }),
    maxWindowSize: Math.min(options.maxWindowSize ?? largestWindowSize, largestWindowSize),
    clock,
    now,
    emit: onEvent,
    ...(options.tap && { tap: options.tap }),
  }
  const admission = createAdmission({
    total: options.limits?.total ?? defaultTotalLimit,
    perClient: options.limits?.perClient ?? defaultPerClientLimit,
  })
  const open = new Map<string, OpenListener>()
  let cancelCheck: (() => void) | undefined
  let stopping: Promise<void> | undefined

  /** Ports belong to an address, so each listener has its own. `undefined` for single-port mode. */
  async function openEndpoints(localAddress: string): Promise<EndpointSource | undefined> {
    if (portMode.mode === 'single') return undefined
    if (portMode.mode === 'few' && kernel?.batch !== undefined && isIPv4(localAddress)) {
      return openTransferSockets({
        localAddress,
        kernel,
        receiveBufferBytes,
        onStranger(from) {
          const client = { ...from, localAddress }
          onEvent({ type: 'ignored', at: clock.now(), client, reason: 'stray-packet' })
        },
      })
    }
    const ports =
      portMode.mode === 'range' ? createPortRange(portMode.first, portMode.last) : createEphemeralPorts()
    return createConnectedSource({ localAddress, ports, ...(kernel === undefined ? {} : { kernel }) })
  }

  async function listenOn(socket: Socket, localAddress: string, port: number): Promise<OpenListener> {
    const endpoints = await openEndpoints(localAddress)
    const listener = createListener({
      context,
      admission,
      socket,
      localAddress,
      ...(kernel === undefined ? {} : { kernel }),
      ...(endpoints === undefined ? {} : { endpoints }),
    })
    return { address: localAddress, port, listener }
  }

  /** Opens a bound socket's listener under `key`, unless the server has been stopped meanwhile. */
  async function addListener(key: string, socket: Socket, address: string, port: number): Promise<void> {
    let added: OpenListener
    try {
      added = await listenOn(socket, address, port)
    } catch (error) {
      socket.close()
      throw listenFailed(address, port, error as NodeJS.ErrnoException)
    }
    if (stopping === undefined) open.set(key, added)
    else added.listener.close()
  }

  /** Leaves an address that this machine does not have (yet) for later. */
  async function openAddress(address: string, port: number): Promise<void> {
    const socket = createLiteralSocket(address, receiveBufferBytes)
    try {
      await bindSocket(socket, { address, port })
    } catch (error) {
      if (errorCodeOf(error) === 'EADDRNOTAVAIL') return
      throw listenFailed(address, port, error as NodeJS.ErrnoException)
    }
    await addListener(`${address} ${port}`, socket, address, socket.address().port)
  }

  async function openInherited(fd: number, localAddress: string | undefined): Promise<void> {
    const socket = createLiteralSocket(localAddress ?? '0.0.0.0')
    try {
      await bindSocket(socket, { fd })
      widenReceiveBuffer(socket, receiveBufferBytes)
    } catch (error) {
      throw listenFailed(`inherited descriptor ${fd}`, 0, error as NodeJS.ErrnoException)
    }
    const bound = socket.address()
    const address = isWildcard(bound.address) ? (localAddress ?? bound.address) : bound.address
    await addListener(`fd ${fd}`, socket, address, bound.port)
  }

  function wantedAddresses(): readonly { address: string; port: number }[] {
    return options.listen.flatMap((listen) => {
      if (listen.kind !== 'address') return []
      const { address, port } = listen
      if (!isWildcard(address)) return [{ address, port }]
      return addressesBehind(address).map((found) => ({ address: found, port }))
    })
  }

  async function openWanted(): Promise<void> {
    for (const { address, port } of wantedAddresses()) {
      if (!open.has(`${address} ${port}`)) await openAddress(address, port)
    }
  }

  /** An address that came with a wildcard and has gone from this machine. */
  function closeVanished(): void {
    if (!options.listen.some((listen) => listen.kind === 'address' && isWildcard(listen.address))) return
    const wanted = new Set(wantedAddresses().map(({ address, port }) => `${address} ${port}`))
    for (const [key, { listener }] of open) {
      if (key.startsWith('fd ') || wanted.has(key)) continue
      listener.close()
      open.delete(key)
    }
  }

  function checkAddressesLater(): void {
    cancelCheck = timers.after(addressCheckMs, () => {
      closeVanished()
      // What fails here is tried again: the address may be on its way out, or the port about to become free.
      openWanted()
        .catch(() => {})
        .finally(() => {
          if (stopping === undefined) checkAddressesLater()
        })
    })
  }

  function closeAll(): void {
    for (const { listener } of open.values()) listener.close()
    open.clear()
  }

  function activeTransfers(): number {
    let sum = 0
    for (const { listener } of open.values()) sum += listener.activeTransfers
    return sum
  }

  async function stop(graceMs: number): Promise<void> {
    cancelCheck?.()
    for (const { listener } of open.values()) listener.refuseNew()
    const until = now() + graceMs
    while (activeTransfers() > 0 && now() < until) {
      await new Promise<void>((resolve) => timers.after(stopCheckMs, resolve))
    }
    closeAll()
  }

  return {
    async start() {
      try {
        for (const listen of options.listen) {
          if (listen.kind === 'inherited') await openInherited(listen.fd, listen.localAddress)
        }
        await openWanted()
      } catch (error) {
        closeAll()
        throw error
      }
      checkAddressesLater()
    },
    stop(graceMs = 0) {
      stopping ??= stop(graceMs)
      return stopping
    },
    get listening() {
      return [...open.values()].map(({ address, port }) => ({ address, port }))
    },
    get isReady() {
      const wanted = wantedAddresses()
      const inherited = options.listen.filter(({ kind }) => kind === 'inherited')
      return (
        wanted.every(({ address, port }) => open.has(`${address} ${port}`)) &&
        wanted.length + inherited.length > 0
      )
    },
    get activeTransfers() {
      return activeTransfers()
    },
  }
}
