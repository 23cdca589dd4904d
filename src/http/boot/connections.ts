import type { Socket } from 'node:net'
import { baseUrl, plainAddress, type UrlAddress } from './base-url.ts'

/** What is known of one connection while it is open. */
export interface Connection {
  readonly address: string
  /** The address that asks is the one that is asked: it is this machine. */
  readonly isFromHere: boolean
  /** Where URLs in answers on this connection point to; without a slash at the end. */
  readonly baseUrl: string
  /** Requests whose answer is not written yet; more than one when a client does not wait. */
  openRequests: number
  /** An answer to send when the requests before it have theirs; the connection ends with it. */
  lastWords: string | undefined
  isGone: boolean
  /** Called once when the connection is gone. */
  readonly onGone: Set<() => void>
}

export interface Connections {
  /** `undefined` for a connection that is one too many for its address; it is closed. */
  open(socket: Socket): Connection | undefined
  of(socket: Socket): Connection | undefined
  /** A request came: the connection is not closed for others until `onAnswered`. */
  onAsked(socket: Socket): void
  /** Nothing is left to answer on it. */
  onAnswered(socket: Socket): void
}

/** Room for newcomers while the system still closes what was given up. */
const largestSpare = 64

/**
 * Keeps count, so that no single address can take every connection there is, and so that those on which nothing happens
 * do not keep others out: near the limit the one that has been silent for longest is closed for each newcomer.
 */
export function createConnections({
  maximum,
  maxPerAddress,
  urls,
}: {
  /** In all; beyond it the system refuses. */
  readonly maximum: number
  readonly maxPerAddress: number
  /** What an admin configured for URLs. */
  readonly urls: UrlAddress
}): Connections {
  const bySocket = new WeakMap<object, Connection>()
  const perAddress = new Map<string, number>()
  /** Silent ones, those first that have been for longest. */
  const silent = new Set<Socket>()
  const roomyUpTo = maximum - Math.min(largestSpare, maximum >> 3)
  let size = 0

  function open(socket: Socket): Connection | undefined {
    const address = plainAddress(socket.remoteAddress ?? 'unknown')
    const count = perAddress.get(address) ?? 0
    if (count >= maxPerAddress) {
      socket.destroy()
      return undefined
    }
    perAddress.set(address, count + 1)
    size += 1
    if (size > roomyUpTo) closeLongestSilent()
    silent.add(socket)
    const { localAddress = '', localPort = 0 } = socket
    const connection: Connection = {
      address,
      isFromHere: address === plainAddress(localAddress),
      baseUrl: baseUrl(urls, { localAddress, localPort }),
      openRequests: 0,
      lastWords: undefined,
      isGone: false,
      onGone: new Set(),
    }
    bySocket.set(socket, connection)
    socket.once('close', () => {
      size -= 1
      silent.delete(socket)
      const left = (perAddress.get(address) ?? 1) - 1
      if (left === 0) perAddress.delete(address)
      else perAddress.set(address, left)
      connection.isGone = true
      for (const tell of connection.onGone) tell()
      connection.onGone.clear()
    })
    return connection
  }

  function closeLongestSilent(): void {
    const [longest] = silent
    if (longest === undefined) return
    silent.delete(longest)
    longest.destroy()
  }

  return {
    open,
    of: (socket) => bySocket.get(socket),
    onAsked: (socket) => void silent.delete(socket),
    onAnswered(socket) {
      if (!socket.destroyed) silent.add(socket)
    },
  }
}
