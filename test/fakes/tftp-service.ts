import { createHash } from 'node:crypto'
import type { TftpEvent } from '../../src/tftp/event.ts'
import type { TftpAnswer, TftpFile, TftpFiles, TftpPeer } from '../../src/tftp/files.ts'
import { createTftpServer, type TftpServer, type TftpServerOptions } from '../../src/tftp/server.ts'
import type { TftpName } from '../../src/tftp/tftp-name.ts'

export interface ServiceUnderTest {
  readonly server: TftpServer
  readonly address: string
  readonly port: number
  readonly events: TftpEvent[]
  /** Names in the order in which files were opened. */
  readonly opened: { name: TftpName; client: TftpPeer }[]
  /** Resolves when an event of this kind has come. */
  seen(matches: (event: TftpEvent) => boolean): Promise<TftpEvent>
}

type Content = TftpFile | Buffer | string

/** A server on the loopback that serves what a table holds, and remembers what happened. */
export async function startService(
  table: Readonly<Record<string, Content>> | TftpFiles['open'],
  options: Partial<TftpServerOptions> = {},
  address = '127.0.0.1',
): Promise<ServiceUnderTest> {
  const events: TftpEvent[] = []
  const waiting: { matches: (event: TftpEvent) => boolean; resolve: (event: TftpEvent) => void }[] = []
  const opened: ServiceUnderTest['opened'] = []

  function lookUp(name: TftpName): TftpAnswer {
    const found = typeof table === 'function' ? undefined : table[name.path]
    if (found === undefined) return { kind: 'refused', code: 1, message: 'no such file' }
    return Buffer.isBuffer(found) || typeof found === 'string'
      ? { kind: 'rendered', bytes: Buffer.from(found) }
      : found
  }

  const server = createTftpServer({
    files: {
      open(name, client) {
        opened.push({ name, client })
        return typeof table === 'function' ? table(name, client) : lookUp(name)
      },
    },
    listen: [{ kind: 'address', address, port: 0 }],
    clock: { now: () => 1_800_000_000_000 },
    timers: {
      after(delayMs, run) {
        const timer = setTimeout(run, delayMs)
        timer.unref()
        return () => clearTimeout(timer)
      },
    },
    onEvent(event) {
      events.push(event)
      for (const wait of waiting.filter(({ matches }) => matches(event))) {
        waiting.splice(waiting.indexOf(wait), 1)
        wait.resolve(event)
      }
    },
    ...options,
  })
  await server.start()
  const [listening] = server.listening
  if (listening === undefined) throw new Error('the server listens nowhere')
  return {
    server,
    address: listening.address,
    port: listening.port,
    events,
    opened,
    seen(matches) {
      const found = events.find(matches)
      if (found !== undefined) return Promise.resolve(found)
      return new Promise((resolve) => waiting.push({ matches, resolve }))
    },
  }
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Bytes that differ at every place that matters: no two blocks of one file are the same. */
export function patterned(sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(sizeBytes)
  let state = 0x2545f491
  for (let at = 0; at + 4 <= sizeBytes; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes.writeUInt32LE(state, at)
  }
  for (let at = sizeBytes - (sizeBytes % 4); at < sizeBytes; at += 1) bytes[at] = at & 0xff
  return bytes
}
