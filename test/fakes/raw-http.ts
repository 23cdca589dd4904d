import { connect, type Socket } from 'node:net'

export interface RawResponse {
  readonly status: number
  /** Status line and header lines as they came. */
  readonly head: string
  /** By name in the letter case that was sent. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** One TCP connection on which a test writes bytes and reads whole responses. */
export interface RawConnection {
  readonly socket: Socket
  send(bytes: string | Buffer): void
  /** The next response; `method` says whether it has a body. Rejects when what came is not well-formed HTTP. */
  next(method?: string): Promise<RawResponse>
  /** Resolves when the other side has ended the connection, with what came after the last response. */
  closed(): Promise<Buffer>
  destroy(): void
}

const statusLine = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/
const headerLine = /^([A-Za-z0-9-]+): (\S(?:.*\S)?)$/

/**
 * Reads a head strictly: what a loader with a ten-line parser could not read is an error. Header names are compared
 * by their letters in the case that was sent.
 */
export function readHead(head: string): Omit<RawResponse, 'body'> {
  const [first = '', ...lines] = head.split('\r\n')
  const status = statusLine.exec(first)?.[1]
  if (status === undefined) throw new Error(`not a status line: ${JSON.stringify(first)}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`)
    if (headers.has(name)) throw new Error(`twice: ${name}`)
    headers.set(name, value)
  }
  return { status: Number(status), head, headers }
}

interface Framed extends Omit<RawResponse, 'body'> {
  readonly bodyStart: number
  readonly bodyEnd: number
}

/** The head of the response at the start of `bytes` and where its body ends; `undefined` while that is open. */
function frameOf(bytes: Buffer, method: string): Framed | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = readHead(bytes.subarray(0, headEnd).toString('latin1'))
  const length = head.headers.get('Content-Length')
  if (head.status !== 304 && !/^\d+$/.test(length ?? '')) throw new Error(`no length: ${head.head}`)
  const bodyStart = headEnd + 4
  const hasBody = method !== 'HEAD' && head.status !== 304
  return { ...head, bodyStart, bodyEnd: bodyStart + (hasBody ? Number(length) : 0) }
}

export async function openRaw(port: number, host = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ port, host, allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let chunks: Buffer[] = []
  let size = 0
  let isOver = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    wake()
  })
  for (const event of ['end', 'close', 'error'] as const) {
    socket.on(event, () => {
      isOver = true
      wake()
    })
  }
  const somethingNew = () => new Promise<void>((resolve) => (wake = resolve))
  /** Joined only when it may be worth it, so that large bodies stay cheap. */
  function gathered(): Buffer {
    const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    chunks = [all]
    return all
  }

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async next(method = 'GET') {
      let frame: Framed | undefined
      for (;;) {
        frame ??= frameOf(gathered(), method)
        if (frame !== undefined && size >= frame.bodyEnd) {
          const { bodyStart, bodyEnd, ...head } = frame
          const all = gathered()
          chunks = [all.subarray(bodyEnd)]
          size -= bodyEnd
          return { ...head, body: all.subarray(bodyStart, bodyEnd) }
        }
        if (isOver) {
          throw new Error(`the connection ended: ${JSON.stringify(gathered().toString('latin1', 0, 500))}`)
        }
        await somethingNew()
      }
    },
    async closed() {
      while (!isOver) await somethingNew()
      socket.destroy()
      return gathered()
    },
    destroy: () => void socket.destroy(),
  }
}

/** One request on a connection of its own, which is closed afterwards. */
export async function requestRaw(
  port: number,
  target: string,
  { method = 'GET', headers = [] as readonly string[], version = '1.1' } = {},
): Promise<RawResponse> {
  const connection = await openRaw(port)
  try {
    connection.send([`${method} ${target} HTTP/${version}`, ...headers, '', ''].join('\r\n'))
    return await connection.next(method)
  } finally {
    connection.destroy()
  }
}
