import { createSocket, type Socket } from 'node:dgram'
import { unspecifiedIpv4 } from '../../core/ipv4.ts'
import type { DeviceSockets } from '../../dhcp/bind-to-device.ts'
import { type DhcpQuestion, type DhcpReply, encodeDiscover, readDhcpReply } from './dhcp-question.ts'

export interface ReceivedReply extends DhcpReply {
  /** Where it came from, as a dotted quad. */
  readonly from: string
}

export interface DhcpAskLimits {
  /** All of it; the question is repeated once, at half of this time. */
  readonly forMs: number
  /** Ends sooner. */
  readonly isEnough?: (replies: readonly ReceivedReply[]) => boolean
}

/** The client side of DHCP, far enough to see what servers offer. Takes nothing: an offer that is not asked for lapses. */
export interface DhcpClient {
  readonly port: number
  /** @returns what came, in order, each server's answer once; @throws node's own error when it cannot be sent */
  ask(
    question: DhcpQuestion,
    to: { readonly address: string; readonly port: number },
    limits: DhcpAskLimits,
  ): Promise<readonly ReceivedReply[]>
  close(): Promise<void>
}

export interface DhcpClientOptions {
  /** 68 on a real network; 0 for any free one. */
  readonly port: number
  /** Bound to it where `devices` can; else packets leave by the route to their address. */
  readonly device?: string
  readonly devices?: DeviceSockets
}

/** @throws node's own errors, with `code`: EACCES without the right to open the port, EADDRINUSE */
export async function openDhcpClient({ port, device, devices }: DhcpClientOptions): Promise<DhcpClient> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const where =
    device !== undefined && devices !== undefined
      ? { fd: devices.open({ device, address: unspecifiedIpv4, port, isShared: true }) }
      : { port }
  await bound(socket, where)
  socket.setBroadcast(true)

  return {
    port: socket.address().port,
    ask: (question, to, limits) => ask(socket, question, to, limits),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function ask(
  socket: Socket,
  question: DhcpQuestion,
  to: { readonly address: string; readonly port: number },
  { forMs, isEnough = () => false }: DhcpAskLimits,
): Promise<readonly ReceivedReply[]> {
  const packet = encodeDiscover(question)
  const replies = new Map<string, ReceivedReply>()
  return new Promise((resolve, reject) => {
    const repeat = setTimeout(send, forMs / 2)
    const end = setTimeout(finish, forMs)

    function send(): void {
      socket.send(packet, to.port, to.address, (error) => {
        if (error === null) return
        stop()
        reject(error)
      })
    }

    function stop(): void {
      clearTimeout(repeat)
      clearTimeout(end)
      socket.off('message', onMessage)
    }

    function finish(): void {
      stop()
      resolve([...replies.values()])
    }

    function onMessage(bytes: Buffer, { address }: { readonly address: string }): void {
      const reply = readDhcpReply(bytes, question.xid)
      if (reply === undefined) return
      const key = `${address} ${reply.server} ${reply.type} ${reply.bootFile}`
      if (!replies.has(key)) replies.set(key, { ...reply, from: address })
      if (isEnough([...replies.values()])) finish()
    }

    socket.on('message', onMessage)
    send()
  })
}

function bound(socket: Socket, where: { readonly fd: number } | { readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind({ ...where, exclusive: true }, () => {
      socket.removeAllListeners('error')
      // An unreachable port is told as an error of the socket, and means nothing to a broadcast.
      socket.on('error', () => {})
      resolve()
    })
  })
}
