import type { Socket } from 'node:net'
import { baseUrl, plainAddress, type UrlAddress } from './base-url.ts'

/** What is known of one connection while it is open. */
export interface Connection {
  readonly address: string
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
}

/** Keeps count, so that no single address can take every connection there is. */
export function createConnections({
  maxPerAddress,
  urls,
}: {
  readonly maxPerAddress: number
  /** What an admin configured for URLs. */
  readonly urls: UrlAddress
}): Connections {
  const bySocket = new WeakMap<object, Connection>()
  const perAddress = new Map<string, number>()

  function open(socket: Socket): Connection | undefined {
    const address = plainAddress(socket.remoteAddress ?? 'unknown')
    const count = perAddress.get(address) ?? 0
    if (count >= maxPerAddress) {
      socket.destroy()
      return undefined
    }
    perAddress.set(address, count + 1)
    const { localAddress = '', localPort = 0 } = socket
    const connection: Connection = {
      address,
      baseUrl: baseUrl(urls, { localAddress, localPort }),
      openRequests: 0,
      lastWords: undefined,
      isGone: false,
      onGone: new Set(),
    }
    bySocket.set(socket, connection)
    socket.once('close', () => {
      const left = (perAddress.get(address) ?? 1) - 1
      if (left === 0) perAddress.delete(address)
      else perAddress.set(address, left)
      connection.isGone = true
      for (const tell of connection.onGone) tell()
      connection.onGone.clear()
    })
    return connection
  }

  return { open, of: (socket) => bySocket.get(socket) }
}
