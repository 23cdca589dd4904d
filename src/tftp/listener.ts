import type { Socket } from 'node:dgram'
import { probeOption } from '../core/probe-mark.ts'
import { shownPath } from '../core/shown-path.ts'
import type { KernelUdp } from '../udp/kernel-udp.ts'
import type { Admission } from './admission.ts'
import type { EndpointSource } from './endpoint.ts'
import type { IgnoreReason, RefuseReason } from './event.ts'
import { displayName, type FileNameRefusal, parseFileName, type TftpPath } from './file-name.ts'
import type { TftpPeer } from './files.ts'
import {
  encodeError,
  errorCodes,
  parsePacket,
  type ReadRequest,
  refusalAnswers,
  type TftpError,
} from './packet.ts'
import { type ServeContext, type ServedRequest, type ServeSocket, serveRequest } from './serve-request.ts'
import { createSharedSocket, createSharedSource } from './shared-socket.ts'
import { classifyName, type TftpName } from './tftp-name.ts'
import { strangerError } from './transfer.ts'

export interface ListenerOptions {
  readonly context: ServeContext
  readonly admission: Admission
  /** Bound. */
  readonly socket: Socket
  readonly localAddress: string
  readonly kernel?: KernelUdp
  /** Absent: transfers leave by this very socket, so that one port in a firewall is enough (field case 77). */
  readonly endpoints?: EndpointSource
}

export interface Listener {
  readonly activeTransfers: number
  /** No new requests from now on; those under way go on. */
  refuseNew(): void
  /** Ends what is under way, telling the clients, and closes the socket. */
  close(): void
}

/** A request that holds a place here, under its client's address and port. */
interface Transfer extends ServedRequest {
  readonly bytes: Buffer
  readonly clientAddress: string
  readonly admittedAt: number
  cancel(tellsClient: boolean): void
  evict(): void
}

/** A repeated request is late by less than this; when more has passed in silence, its machine has restarted. */
const lateRequestMs = 1_000

const nameRefusals: Readonly<Record<FileNameRefusal, TftpError>> = {
  'name-too-long': { code: errorCodes.illegalOperation, message: 'the file name is too long' },
  'name-empty': { code: errorCodes.fileNotFound, message: 'no file name' },
  'name-climbs': { code: errorCodes.accessViolation, message: 'no such place' },
}
const writeRefusal: TftpError = { code: errorCodes.accessViolation, message: 'this server is read-only' }

/** What is known about a refused request besides who sent it. */
interface RefusedName {
  readonly displayName: string
  readonly name?: TftpName
  readonly cause?: unknown
}

/**
 * Whether `pilotlight doctor` asks: it sees what machines get, and is none. Only from this machine: nobody else can keep
 * a transfer out of the timeline.
 */
function isProbe({ options }: ReadRequest, { address, localAddress }: TftpPeer): boolean {
  return address === localAddress && options.some(({ name }) => name === probeOption)
}

/** Serves what arrives at one bound socket: reads it, finds whose it is, and hands on. */
export function createListener(options: ListenerOptions): Listener {
  const { context, socket, localAddress, kernel, admission } = options
  const { clock, now, emit } = context
  const quietContext: ServeContext = { ...context, emit() {} }
  const { port: localPort } = socket.address()
  const transfers = new Map<string, Transfer>()
  let isRefusing = false
  let isClosed = false

  function reply(error: TftpError, peer: TftpPeer): void {
    if (isClosed) return
    const packet = encodeError(error)
    context.tap?.packet(packet, true, peer, localPort)
    socket.send(packet, peer.port, peer.address)
  }

  function ignore(client: TftpPeer, reason: IgnoreReason): void {
    emit({ type: 'ignored', at: clock.now(), client, reason })
  }

  function refuse(
    client: TftpPeer,
    reason: RefuseReason,
    { code, message }: TftpError,
    about: RefusedName,
  ): void {
    reply({ code, message }, client)
    emit({ type: 'refused', at: clock.now(), client, reason, code, message, ...about })
  }

  function createTransfer(
    key: string,
    peer: TftpPeer,
    packet: ReadRequest,
    bytes: Buffer,
    path: TftpPath,
  ): Transfer {
    const name = classifyName(path)
    const disposers: (() => void)[] = []
    let isOver = false
    const transfer: Transfer = {
      peer,
      name,
      packet,
      bytes,
      clientAddress: peer.address,
      admittedAt: now(),
      get isOver() {
        return isOver
      },
      holdUntilEnd(dispose) {
        if (isOver) dispose()
        else disposers.push(dispose)
      },
      confirm: () => admission.confirm(transfer),
      refuse(reason, error, cause) {
        refuse(peer, reason, error, {
          displayName: shownPath(path),
          name,
          ...(cause === undefined ? {} : { cause }),
        })
      },
      ignore: (reason) => ignore(peer, reason),
      finish() {
        if (isOver) return
        isOver = true
        if (transfers.get(key) === transfer) transfers.delete(key)
        admission.release(transfer)
        for (const dispose of disposers.splice(0)) dispose()
      },
      cancel(tellsClient) {
        if (transfer.session === undefined) transfer.finish()
        else transfer.session.handle({ type: 'cancelled', tellsClient })
      },
      evict: () => transfer.cancel(false),
    }
    return transfer
  }

  /** The same request again, from the same address and port, is one transfer (field case 70). */
  function isRepetition({ bytes, session }: Transfer, again: Buffer): boolean {
    if (!bytes.equals(again)) return false
    if (session === undefined) return true
    if (session.phase === 'opening') {
      session.handle({ type: 'request-repeated' })
      return true
    }
    return now() - session.lastHeardAt < lateRequestMs
  }

  function onReadRequest(packet: ReadRequest, bytes: Buffer, key: string, peer: TftpPeer): void {
    const existing = transfers.get(key)
    if (existing !== undefined) {
      if (isRepetition(existing, bytes)) return
      existing.cancel(false)
    }
    if (isRefusing) {
      ignore(peer, 'stopping')
      return
    }
    const fileName = parseFileName(packet.rawName)
    if (fileName.kind === 'refused') {
      refuse(peer, 'name-refused', nameRefusals[fileName.reason], {
        displayName: displayName(packet.rawName),
      })
      return
    }
    const transfer = createTransfer(key, peer, packet, bytes, fileName.path)
    const admitted = admission.admit(transfer)
    if (admitted !== 'admitted') {
      ignore(peer, admitted)
      return
    }
    transfers.set(key, transfer)
    void serveRequest(isProbe(packet, peer) ? quietContext : context, from, transfer)
  }

  function onMessage(bytes: Buffer, { address, port }: { address: string; port: number }): void {
    const peer: TftpPeer = { address, port, localAddress }
    context.tap?.packet(bytes, false, peer, localPort)
    const packet = parsePacket(bytes)
    switch (packet.kind) {
      case 'read':
        onReadRequest(packet, bytes, `${address} ${port}`, peer)
        return
      case 'write':
        refuse(peer, 'write-request', writeRefusal, { displayName: '' })
        return
      case 'refused': {
        const answer = refusalAnswers[packet.reason]
        if (answer === undefined) ignore(peer, 'malformed')
        else refuse(peer, 'malformed', answer, { displayName: '' })
        return
      }
      default:
        // An ERROR is never answered with one (RFC 1350 §5).
        if (packet.kind !== 'error') reply(strangerError, peer)
        ignore(peer, 'stray-packet')
    }
  }

  const shared = createSharedSocket({
    socket,
    localAddress,
    ...(kernel === undefined ? {} : { kernel }),
    onOther: onMessage,
  })
  const from: ServeSocket = { localAddress, endpoints: options.endpoints ?? createSharedSource([shared]) }

  return {
    get activeTransfers() {
      return transfers.size
    },
    refuseNew() {
      isRefusing = true
    },
    close() {
      if (isClosed) return
      isRefusing = true
      for (const transfer of [...transfers.values()]) transfer.cancel(true)
      isClosed = true
      from.endpoints.close()
      shared.close()
      socket.close()
    },
  }
}
