import { createHash, type Hash } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'

/** What a client does; the defaults are those of a well-behaved one. */
export interface ClientOptions {
  readonly server: { readonly address: string; readonly port: number }
  readonly name: string | Buffer
  readonly mode?: string
  /** Sent in this order. */
  readonly options?: Readonly<Record<string, string | number>>
  readonly localAddress?: string
  readonly localPort?: number
  /** Keeps the bytes; otherwise only their digest. */
  readonly keep?: boolean
  /** How many times each acknowledgement is sent. */
  readonly ackCopies?: number
  /** The packet numbered so (from 0) is not seen by the client. */
  readonly isLost?: (packet: number) => boolean
  /** Wraps to 1 instead of 0. */
  readonly wrapToOne?: boolean
  /** Ends the transfer with this ERROR once the OACK has come. */
  readonly abortAfterOack?: number
  /** Silence before the last packet is repeated. */
  readonly repeatAfterMs?: number
  readonly giveUpAfterMs?: number
}

export interface ClientResult {
  readonly sizeBytes: number
  readonly sha256: string
  readonly bytes: Buffer
  readonly oack?: Readonly<Record<string, string>>
  readonly error?: { readonly code: number; readonly message: string }
  /** Packets that came, lost ones too. */
  readonly packets: number
  /** Blocks that came although they were there already. */
  readonly duplicates: number
  /** Own repetitions. */
  readonly repeats: number
  readonly fromPorts: ReadonlySet<number>
  readonly fromAddresses: ReadonlySet<string>
  readonly outcome: 'complete' | 'error' | 'aborted' | 'gave-up'
}

function encodeRequest({ name, mode = 'octet', options = {} }: ClientOptions): Buffer {
  const tail = Object.entries(options)
    .map(([key, value]) => `${key}\0${value}\0`)
    .join('')
  const rawName = typeof name === 'string' ? Buffer.from(name, 'latin1') : name
  return Buffer.concat([Buffer.from([0, 1]), rawName, Buffer.from(`\0${mode}\0${tail}`, 'latin1')])
}

function decodeOack(packet: Buffer): Record<string, string> {
  const parts = packet.toString('latin1', 2).split('\0')
  const found: Record<string, string> = {}
  for (let at = 0; at + 1 < parts.length; at += 2) found[parts[at] ?? ''] = parts[at + 1] ?? ''
  return found
}

/** Binds a UDP socket on the loopback. */
export function bindSocket(address = '127.0.0.1', port = 0): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const family = address.includes(':') ? 6 : 4
    const socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      recvBufferSize: 1024 * 1024,
      // At once, so that a packet has left before the socket is closed.
      lookup: (hostname, _, callback) => callback(null, hostname, family),
    })
    socket.once('error', reject)
    socket.bind(port, address, () => resolve(socket))
  })
}

/** Reads one file, strictly by RFC 1350, 2347, 2348, 2349 and 7440, as a stranger to the server's code. */
export async function readByTftp(options: ClientOptions): Promise<ClientResult> {
  const {
    server,
    ackCopies = 1,
    isLost = () => false,
    repeatAfterMs = 1_000,
    giveUpAfterMs = 15_000,
  } = options
  const socket = await bindSocket(options.localAddress, options.localPort)
  const hash: Hash = createHash('sha256')
  const chunks: Buffer[] = []
  const fromPorts = new Set<number>()
  const fromAddresses = new Set<string>()
  let sizeBytes = 0
  let packets = 0
  let duplicates = 0
  let repeats = 0
  let blockSize = 512
  let windowSize = 1
  let oack: Record<string, string> | undefined
  let next = 1
  let inWindow = 0
  let isGap = false
  let last = encodeRequest(options)
  let peer = { ...server }
  let isConnected = false
  const startedAt = Date.now()

  const wire = (block: number) => (options.wrapToOne ? ((block - 1) % 65535) + 1 : block & 0xffff)

  return new Promise((resolve) => {
    function finish(outcome: ClientResult['outcome'], error?: ClientResult['error']): void {
      clearTimeout(timer)
      socket.close(() =>
        resolve({
          sizeBytes,
          sha256: hash.digest('hex'),
          bytes: Buffer.concat(chunks),
          ...(oack === undefined ? {} : { oack }),
          ...(error === undefined ? {} : { error }),
          packets,
          duplicates,
          repeats,
          fromPorts,
          fromAddresses,
          outcome,
        }),
      )
    }

    function send(packet: Buffer): void {
      socket.send(packet, peer.port, peer.address)
    }

    function acknowledge(block: number): void {
      last = Buffer.from([0, 4, 0, 0])
      last.writeUInt16BE(block === 0 ? 0 : wire(block), 2)
      inWindow = 0
      for (let copy = 0; copy < ackCopies; copy += 1) send(last)
    }

    const timer = setTimeout(function silence() {
      if (Date.now() - startedAt > giveUpAfterMs) {
        finish('gave-up')
        return
      }
      repeats += 1
      isGap = false
      send(last)
      timer.refresh()
    }, repeatAfterMs)

    function onData(packet: Buffer): void {
      const number = packet.readUInt16BE(2)
      if (number !== wire(next)) {
        const isOld = ((wire(next) - number) & 0xffff) < 0x8000
        if (isOld) {
          duplicates += 1
          if (next > 1 && number === wire(next - 1) && inWindow === 0) send(last)
        } else if (!isGap) {
          isGap = true
          acknowledge(next - 1)
        }
        return
      }
      isGap = false
      const data = packet.subarray(4)
      hash.update(data)
      if (options.keep) chunks.push(Buffer.from(data))
      sizeBytes += data.length
      inWindow += 1
      const isLast = data.length < blockSize
      if (isLast || inWindow === windowSize) acknowledge(next)
      next += 1
      if (isLast) finish('complete')
    }

    socket.on('message', (packet, { address, port }) => {
      packets += 1
      if (isLost(packets - 1)) return
      fromPorts.add(port)
      fromAddresses.add(address)
      if (!isConnected) {
        isConnected = true
        peer = { address, port }
      }
      if (peer.port !== port) return
      timer.refresh()
      switch (packet.readUInt16BE(0)) {
        case 3:
          onData(packet)
          return
        case 5:
          finish('error', {
            code: packet.readUInt16BE(2),
            message: packet.toString('latin1', 4, packet.indexOf(0, 4)),
          })
          return
        case 6: {
          oack = decodeOack(packet)
          blockSize = Number(oack.blksize ?? 512)
          windowSize = Number(oack.windowsize ?? 1)
          if (options.abortAfterOack === undefined) {
            if (next === 1) acknowledge(0)
            return
          }
          socket.send(
            Buffer.from(`\0\x05\0${String.fromCharCode(options.abortAfterOack)}aborted\0`),
            port,
            address,
            () => finish('aborted'),
          )
        }
      }
    })

    send(last)
  })
}
