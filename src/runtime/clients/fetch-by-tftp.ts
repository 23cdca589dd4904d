import { createSocket, type Socket } from 'node:dgram'
import { probeOption } from '../../core/probe-mark.ts'
import { encodeError, errorCodes } from '../../tftp/packet.ts'

export interface TftpQuestion {
  readonly address: string
  readonly port: number
  readonly name: string
  /** Ours to ask from; default: what the system takes. */
  readonly fromAddress?: string
  readonly blockSize?: number
  /** Silence before the last packet is repeated; after three repetitions it is given up. */
  readonly repeatAfterMs?: number
  /** What comes beyond this is not a boot loader. */
  readonly maxBytes?: number
  /** Asked by the service's own doctor: no step of a boot. */
  readonly isProbe?: boolean
  /** Ends as soon as the size is known, as UEFI does at first (field case 60). */
  readonly isLook?: boolean
}

export type TftpFetch =
  | { readonly kind: 'fetched'; readonly bytes: Buffer; readonly milliseconds: number }
  /** The answer to a look: the size, where the server tells it. */
  | { readonly kind: 'announced'; readonly sizeBytes: number | undefined }
  /** The server said no. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  /** Answered from another address than the one that was asked: firmware drops that (field case 50). */
  | { readonly kind: 'other-source'; readonly address: string }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly reason: string }

const defaultBlockSize = 1468
const defaultRepeatAfterMs = 1_000
const mostRepeats = 3
const defaultMaxBytes = 64 * 1024 * 1024
const opcode = { data: 3, error: 5, oack: 6 } as const

/**
 * Fetches a file as firmware does (RFC 1350, 2347, 2348, 2349), one block at a time, and watches where the answers
 * come from. Never rejects.
 */
export function fetchByTftp(question: TftpQuestion): Promise<TftpFetch> {
  const {
    address,
    port,
    fromAddress,
    repeatAfterMs = defaultRepeatAfterMs,
    maxBytes = defaultMaxBytes,
  } = question
  const startedAt = performance.now()
  const chunks: Buffer[] = []
  let sizeBytes = 0
  let blockSize = 512
  let block = 0
  let repeats = 0
  /** The port that the server chose for this transfer. */
  let peerPort: number | undefined
  let last = readRequest(question)

  return new Promise((resolve) => {
    const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4' })
    const timer = setTimeout(() => {
      repeats += 1
      if (repeats > mostRepeats) finish({ kind: 'silent' })
      else send(last)
    }, repeatAfterMs)

    function finish(outcome: TftpFetch): void {
      clearTimeout(timer)
      closeQuietly(socket)
      resolve(outcome)
    }

    function send(packet: Buffer): void {
      last = packet
      timer.refresh()
      socket.send(packet, peerPort ?? port, address, (error) => {
        if (error !== null) finish({ kind: 'failed', reason: error.message })
      })
    }

    function onData(packet: Buffer): void {
      if (packet.readUInt16BE(2) !== ((block + 1) & 0xffff)) return
      const data = packet.subarray(4)
      block += 1
      repeats = 0
      sizeBytes += data.length
      chunks.push(Buffer.from(data))
      if (sizeBytes > maxBytes) {
        last = encodeError({ code: errorCodes.undefined, message: 'too long' })
        socket.send(last, peerPort ?? port, address, () =>
          finish({ kind: 'failed', reason: `it is longer than ${maxBytes} bytes` }),
        )
        return
      }
      if (data.length === blockSize) {
        send(acknowledgement(block))
        return
      }
      const bytes = Buffer.concat(chunks)
      socket.send(acknowledgement(block), peerPort ?? port, address, () =>
        finish({ kind: 'fetched', bytes, milliseconds: performance.now() - startedAt }),
      )
    }

    function endLook(packet: Buffer): void {
      const size = optionOf(packet, 'tsize')
      const sizeBytes = Number.isSafeInteger(size) ? size : undefined
      const enough = encodeError({ code: errorCodes.optionRefused, message: 'only looking' })
      socket.send(enough, peerPort ?? port, address, () => finish({ kind: 'announced', sizeBytes }))
    }

    socket.on('error', (error) => finish({ kind: 'failed', reason: error.message }))
    socket.on('message', (packet, from) => {
      if (packet.length < 4) return
      if (from.address !== address) {
        finish({ kind: 'other-source', address: from.address })
        return
      }
      peerPort ??= from.port
      if (from.port !== peerPort) return
      switch (packet.readUInt16BE(0)) {
        case opcode.data:
          onData(packet)
          return
        case opcode.oack:
          if (block > 0) return
          if (question.isLook === true) {
            endLook(packet)
            return
          }
          blockSize = grantedBlockSize(packet)
          send(acknowledgement(0))
          return
        case opcode.error:
          finish({ kind: 'refused', code: packet.readUInt16BE(2), message: textAt(packet, 4) })
      }
    })
    socket.bind({ port: 0, ...(fromAddress === undefined ? {} : { address: fromAddress }) }, () => send(last))
  })
}

function readRequest({ name, blockSize = defaultBlockSize, isProbe = false }: TftpQuestion): Buffer {
  const mark = isProbe ? `${probeOption}\x001\0` : ''
  return Buffer.from(`\0\x01${name}\0octet\0tsize\x000\0blksize\0${blockSize}\0${mark}`, 'latin1')
}

function acknowledgement(block: number): Buffer {
  return Buffer.of(0, 4, (block >>> 8) & 0xff, block & 0xff)
}

/** Without the option in the answer, blocks have 512 bytes (RFC 2348). */
function grantedBlockSize(oack: Buffer): number {
  const size = optionOf(oack, 'blksize')
  return Number.isInteger(size) && size >= 8 && size <= 65464 ? size : 512
}

/** The number behind an option of an OACK; `NaN` when there is none. */
function optionOf(oack: Buffer, name: string): number {
  const parts = oack.toString('latin1', 2).toLowerCase().split('\0')
  const at = parts.indexOf(name)
  return at === -1 ? Number.NaN : Number(parts[at + 1])
}

function textAt(packet: Buffer, start: number): string {
  const end = packet.indexOf(0, start)
  return packet.toString('latin1', start, end === -1 ? undefined : end).replace(/[^\x20-\x7e]/g, '?')
}

function closeQuietly(socket: Socket): void {
  try {
    socket.close()
  } catch {
    // Closed already.
  }
}
