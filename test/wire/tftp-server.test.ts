import { truncateSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/core/errors.ts'
import type { DiskFile, TftpAnswer } from '../../src/tftp/files.ts'
import type { TftpServerOptions } from '../../src/tftp/server.ts'
import type { TftpTap } from '../../src/tftp/tftp-tap.ts'
import { type KernelUdp, loadKernelUdp } from '../../src/udp/kernel-udp.ts'
import { bindSocket, type ClientOptions, readByTftp } from '../fakes/tftp-client.ts'
import { patterned, type ServiceUnderTest, sha256, startService } from '../fakes/tftp-service.ts'

const kernel = await loadKernelUdp()
if (kernel === undefined) console.log('koffi is not installed: the kernel interface is not tried here')
const ways: readonly { readonly how: string; readonly kernel?: KernelUdp }[] = [
  { how: 'by dgram alone' },
  ...(kernel === undefined ? [] : [{ how: "with the kernel's batches", kernel }]),
]

let folder: string
let service: ServiceUnderTest | undefined
const loader = patterned(1_048_576)
let onDisk: DiskFile

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tftp-server-'))
  const path = join(folder, 'ipxe.efi')
  await writeFile(path, loader)
  onDisk = { kind: 'disk', path, sizeBytes: loader.length, id: path }
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  await service?.server.stop()
  service = undefined
})

function read(from: ServiceUnderTest, name: string | Buffer, more: Partial<ClientOptions> = {}) {
  return readByTftp({ server: { address: from.address, port: from.port }, name, ...more })
}

/** Sends one datagram and gives what comes back until a while after has passed without any. */
async function exchange(from: ServiceUnderTest, packet: Buffer | string, waitMs = 150): Promise<Buffer[]> {
  const socket = await bindSocket()
  const answers: Buffer[] = []
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs)
    socket.on('message', (answer) => {
      answers.push(Buffer.from(answer))
      timer.refresh()
    })
    socket.send(typeof packet === 'string' ? Buffer.from(packet, 'latin1') : packet, from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return answers
}

describe.each(ways)('$how', ({ how: _, ...way }) => {
  async function start(
    table: Parameters<typeof startService>[0],
    options: Partial<TftpServerOptions> = {},
    address = '127.0.0.1',
  ): Promise<ServiceUnderTest> {
    service = await startService(table, { ...way, ...options }, address)
    return service
  }

  describe('reading files', () => {
    it('without options: blocks of 512 bytes and no OACK (case 62)', async () => {
      const result = await read(await start({ 'a.txt': patterned(1300) }), 'a.txt', { keep: true })
      expect(result).toMatchObject({ outcome: 'complete', sizeBytes: 1300, packets: 3 })
      expect(result.oack).toBeUndefined()
      expect(result.bytes).toEqual(patterned(1300))
    })

    it.each([
      ['EDK2', { blksize: 1468, windowsize: 4 }, { blksize: '1468', windowsize: '4' }],
      ['iPXE', { blksize: 1432, tsize: 0 }, { blksize: '1432', tsize: '1048576' }],
      ['shim', { blksize: 512, windowsize: 4 }, { blksize: '512', windowsize: '4' }],
      ['GRUB', { blksize: 1024, tsize: 0 }, { blksize: '1024', tsize: '1048576' }],
      ['PXELINUX', { tsize: 0, blksize: 1408 }, { tsize: '1048576', blksize: '1408' }],
      ['a greedy client', { blksize: 65464, windowsize: 65535 }, { blksize: '65464', windowsize: '64' }],
    ])('a loader from disk, asked for as %s does', async (_, options, oack) => {
      const result = await read(await start({ 'ipxe.efi': onDisk }, { mtuOf: () => 65536 }), '/ipxe.efi', {
        options,
      })
      expect(result).toMatchObject({
        outcome: 'complete',
        oack,
        sha256: sha256(loader),
      })
    })

    it.each([['each'], ['few'], ['single']] as const)(
      'a tap sees every packet of a transfer, ports: %s',
      async (mode) => {
        const seen: string[] = []
        const names = ['', 'RRQ', '', 'DATA', 'ACK', 'ERROR', 'OACK']
        const note = (isOurs: boolean, bytes: Uint8Array, at: number) =>
          seen.push(`${isOurs ? '>' : '<'} ${names[bytes[at + 1] ?? 0]}`)
        const localPorts = new Set<number>()
        const tap: TftpTap = {
          packet(bytes, isOurs) {
            note(isOurs, bytes, 0)
          },
          transfer(_, localPort) {
            localPorts.add(localPort)
            return {
              received: (bytes, start) => void note(false, bytes, start),
              sent(bytes, offset, length, stride) {
                for (let at = offset; at < offset + length; at += stride) note(true, bytes, at)
              },
              end: () => void seen.push('end'),
            }
          },
        }
        const from = await start({ 'a.txt': patterned(2500) }, { ports: { mode }, tap })
        await read(from, 'a.txt', { options: { blksize: 1000, windowsize: 3 } })
        await from.seen(({ type }) => type === 'ended')
        await read(from, 'missing')
        expect(seen).toEqual(
          ['< RRQ', '> OACK', '< ACK', '> DATA', '> DATA', '> DATA', '< ACK', 'end'].concat(
            '< RRQ',
            '> ERROR',
          ),
        )
        const isListeningPort = localPorts.has(from.port)
        expect([localPorts.size, isListeningPort]).toEqual([1, mode === 'single'])
      },
    )

    it('EDK2: a look at the size, an abort, then the file from a new port (case 60)', async () => {
      const from = await start({ 'ipxe.efi': onDisk })
      const probe = await read(from, 'ipxe.efi', { options: { tsize: 0, blksize: 1468 }, abortAfterOack: 8 })
      expect(probe).toMatchObject({ outcome: 'aborted', oack: { tsize: '1048576' } })
      const aborted = await from.seen(({ type }) => type === 'ended')
      expect(aborted).toMatchObject({ outcome: 'aborted', isSizeAsked: true, clientError: { code: 8 } })
      const result = await read(from, 'ipxe.efi', { options: { blksize: 1468 } })
      expect(result).toMatchObject({ outcome: 'complete', sha256: sha256(loader) })
      await from.seen((event) => event.type === 'ended' && event.outcome === 'served')
      expect(from.events.map(({ type }) => type)).toEqual([
        'requested',
        'ended',
        'requested',
        'started',
        'ended',
      ])
    })

    it('the size of a rendered file is known before its OACK (case 61)', async () => {
      const from = await start(async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return { kind: 'rendered', bytes: Buffer.from('#!ipxe\nboot\n') }
      })
      const result = await read(from, 'autoexec.ipxe', { options: { tsize: 0 }, keep: true })
      expect(result.oack).toEqual({ tsize: '12' })
      expect(result.bytes.toString()).toBe('#!ipxe\nboot\n')
    })

    it('netascii is converted, and its size is the one that is sent', async () => {
      const from = await start({ 'a.txt': 'one\ntwo\n' })
      const result = await read(from, 'a.txt', { mode: 'NetASCII', options: { tsize: 0 }, keep: true })
      expect(result.oack).toEqual({ tsize: '10' })
      expect(result.bytes.toString()).toBe('one\r\ntwo\r\n')
    })

    it('what the port learns of a request: its meaning and who asks whom', async () => {
      const from = await start({ 'pxelinux.cfg/01-52-54-00-ab-cd-ef': 'DEFAULT linux\n' })
      await read(from, '\\pxelinux.cfg\\01-52-54-00-AB-CD-EF'.toLowerCase())
      expect(from.opened).toEqual([
        {
          name: {
            kind: 'pxelinux-config',
            path: 'pxelinux.cfg/01-52-54-00-ab-cd-ef',
            key: { by: 'mac', mac: '52:54:00:ab:cd:ef' },
          },
          client: { address: '127.0.0.1', port: expect.any(Number), localAddress: '127.0.0.1' },
        },
      ])
    })

    it('figures of a transfer come with its end', async () => {
      const from = await start({ 'ipxe.efi': onDisk })
      await read(from, 'ipxe.efi', { options: { blksize: 1468, windowsize: 4, timeout: 10 } })
      expect(await from.seen(({ type }) => type === 'ended')).toMatchObject({
        outcome: 'served',
        figures: {
          sizeBytes: 1_048_576,
          deliveredBytes: 1_048_576,
          blockSize: 1468,
          windowSize: 4,
          repeatedBlocks: 0,
        },
      })
      expect(from.server.activeTransfers).toBe(0)
    })
  })

  describe('answers to what cannot be served', () => {
    it.each([
      ['an unknown name', '\0\x01nothing.efi\0octet\0', 1],
      ['mode mail (case 63)', '\0\x01a.txt\0mail\0', 4],
      ['an unknown mode (case 63)', '\0\x01a.txt\0image\0', 4],
      ['a name of 513 bytes (case 73)', `\0\x01${'a'.repeat(513)}\0octet\0`, 4],
      ['a name that climbs (case 75)', '\0\x01../a.txt\0octet\0', 2],
      ['one with backslashes (case 75)', '\0\x01..\\a.txt\0octet\0', 2],
      ['one hidden by NUL (case 75)', '\0\x01x\0../a.txt\0octet\0', 4],
      ['an empty name', '\0\x01\0octet\0', 1],
      ['a write request (case 75)', '\0\x02a.txt\0octet\0', 2],
      ['a request without end', '\0\x01a.txt', 4],
      ['an empty file (case 83)', '\0\x01empty.efi\0octet\0tsize\x000\0', 1],
      ['data that belongs to nothing', '\0\x03\0\x01abc', 5],
      ['an acknowledgement that belongs to nothing', '\0\x04\0\x01', 5],
    ])('%s: ERROR', async (_, packet, code) => {
      const from = await start({ 'a.txt': 'text', 'empty.efi': '' })
      const answers = await exchange(from, packet)
      expect(answers.map((answer) => [answer.readUInt16BE(0), answer.readUInt16BE(2)])).toEqual([[5, code]])
      expect(from.server.activeTransfers).toBe(0)
    })

    it.each([
      ['nothing', ''],
      ['one byte', '\0'],
      ['an unknown opcode', '\0\x09hello'],
      ['an ERROR', '\0\x05\0\x01hello\0'],
      ['noise', '\xde\xad\xbe\xef'],
    ])('%s: silence', async (_, packet) => {
      expect(await exchange(await start({ 'a.txt': 'text' }), packet)).toEqual([])
    })

    it('a zero-byte loader is reported, and its size never told (case 83)', async () => {
      const from = await start({ 'ipxe.efi': '' })
      expect(await read(from, 'ipxe.efi', { options: { tsize: 0 } })).toMatchObject({ error: { code: 1 } })
      expect(from.events).toMatchObject([{ type: 'refused', reason: 'file-empty', displayName: 'ipxe.efi' }])
    })

    it('a file that vanishes before its first byte ends with ERROR 0', async () => {
      const gone: DiskFile = { kind: 'disk', path: join(folder, 'gone'), sizeBytes: 5, id: 'gone' }
      const from = await start({ 'gone.efi': gone })
      expect(await read(from, 'gone.efi')).toMatchObject({ error: { code: 0 } })
      expect(await from.seen(({ type }) => type === 'ended')).toMatchObject({ outcome: 'read-failed' })
    })

    it('a file that shrinks on its way ends with ERROR 0, not with wrong bytes', async () => {
      const path = join(folder, 'shrinking')
      await writeFile(path, patterned(4_000_000))
      const from = await start({ x: { kind: 'disk', path, sizeBytes: 4_000_000, id: path } })
      const result = await read(from, 'x', {
        options: { blksize: 1024 },
        isLost(packet) {
          if (packet === 2) truncateSync(path, 100_000)
          return false
        },
      })
      expect(result).toMatchObject({ outcome: 'error', error: { code: 0 } })
    })

    it('a port that fails is an ERROR to the client and an event with its cause', async () => {
      const from = await start(() => {
        throw new Error('catalog on fire')
      })
      expect(await read(from, 'x')).toMatchObject({
        error: { code: 0, message: 'the file cannot be read now' },
      })
      expect(from.events).toMatchObject([
        { type: 'refused', reason: 'file-unreadable', cause: { message: 'catalog on fire' } },
      ])
    })
  })

  describe('names as firmware sends them', () => {
    it.each([
      ['END glued on (case 24)', Buffer.from('x.efi\xff', 'latin1')],
      ['a leading slash (case 73)', '/x.efi'],
      ['a backslash (case 73)', '\\x.efi'],
      ['a double slash, as shim', '//x.efi'],
      ['a dot', './x.efi'],
    ])('%s', async (_, name) => {
      expect(await read(await start({ 'x.efi': 'MZ' }), name)).toMatchObject({
        outcome: 'complete',
        sizeBytes: 2,
      })
    })

    it('a Pi asks under its serial number, is refused at once, and gets the file from the root (case 81)', async () => {
      const from = await start({ 'start4.elf': 'ELF' })
      expect(await read(from, '9ffefdef/start4.elf')).toMatchObject({ error: { code: 1 } })
      expect(await read(from, 'start4.elf')).toMatchObject({ outcome: 'complete' })
    })
  })

  describe('one request is one transfer (case 70)', () => {
    it('sent three times before the answer, it is opened once and answered from one port', async () => {
      let answer: (file: TftpAnswer) => void = () => {}
      const opening = new Promise<TftpAnswer>((resolve) => {
        answer = resolve
      })
      const from = await start(() => opening)
      const socket = await bindSocket()
      const ports = new Set<number>()
      const answers: string[] = []
      const request = Buffer.from('\0\x01x\0octet\0blksize\x001024\0', 'latin1')
      const answered = new Promise<void>((resolve) => {
        socket.on('message', (packet, { port }) => {
          ports.add(port)
          answers.push(packet.toString('latin1'))
          if (answers.length === 1) socket.send(request, from.port, from.address)
          if (answers.length === 2) resolve()
        })
      })
      for (let times = 0; times < 3; times += 1) {
        await new Promise<void>((resolve) => socket.send(request, from.port, from.address, () => resolve()))
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
      answer({ kind: 'rendered', bytes: Buffer.alloc(5000) })
      await answered
      socket.close()
      expect(from.opened).toHaveLength(1)
      expect([...ports]).toHaveLength(1)
      expect(answers).toEqual(['\0\x06blksize\x001024\0', '\0\x06blksize\x001024\0'])
    })

    it('another request from the same port takes the place of the first', async () => {
      const from = await start({ a: Buffer.alloc(5000, 1), b: Buffer.alloc(700, 2) })
      const socket = await bindSocket()
      const first = new Promise((resolve) => socket.once('message', resolve))
      socket.send(Buffer.from('\0\x01a\0octet\0', 'latin1'), from.port, from.address)
      await first
      const { port } = socket.address()
      await new Promise<void>((resolve) => socket.close(() => resolve()))
      const result = await read(from, 'b', { localPort: port, keep: true })
      expect(result).toMatchObject({ outcome: 'complete', sizeBytes: 700 })
      expect(result.bytes).toEqual(Buffer.alloc(700, 2))
    })

    it('a machine that restarted and asks from the same port as before gets its file', async () => {
      let now = 0
      const from = await start({ x: patterned(3000) }, { now: () => now })
      const socket = await bindSocket()
      const request = Buffer.from('\0\x01x\0octet\0', 'latin1')
      const blocks: number[] = []
      const come = (count: number) =>
        new Promise<void>((resolve) => {
          socket.on('message', function count_(packet, remote) {
            blocks.push(packet.readUInt16BE(2))
            if (blocks.length === 1) socket.send(Buffer.from([0, 4, 0, 1]), remote.port, remote.address)
            if (blocks.length !== count) return
            socket.off('message', count_)
            resolve()
          })
        })
      const firstTwo = come(2)
      socket.send(request, from.port, from.address)
      await firstTwo
      now += 1_500
      const again = come(3)
      socket.send(request, from.port, from.address)
      await again
      socket.close()
      expect(blocks).toEqual([1, 2, 1])
    })
  })

  describe("the sorcerer's apprentice (case 69)", () => {
    it('every acknowledgement doubled: 100 blocks are 100 packets and an OACK', async () => {
      const from = await start({ x: patterned(99 * 512 + 1) })
      // A busy machine must not make the timer speak in between.
      const result = await read(from, 'x', { ackCopies: 2, options: { timeout: 10 } })
      expect(result).toMatchObject({ outcome: 'complete', packets: 101, duplicates: 0 })
    })

    it.each([1, 4, 16])('lost blocks come again, window %i', async (windowsize) => {
      const from = await start({ 'ipxe.efi': onDisk })
      const options = { blksize: 1468, windowsize }
      const result = await read(from, 'ipxe.efi', { options, isLost: (packet) => packet % 97 === 50 })
      expect(result).toMatchObject({ outcome: 'complete', sha256: sha256(loader) })
    })
  })

  describe('strangers', () => {
    it('a packet from another port does not reach the transfer', async () => {
      const from = await start({ 'ipxe.efi': onDisk })
      const stranger = await bindSocket()
      stranger.on('error', () => {})
      const result = await read(from, 'ipxe.efi', {
        options: { blksize: 512 },
        isLost(packet) {
          if (packet !== 5) return false
          const transfer = from.opened.at(-1)
          if (transfer === undefined) return false
          for (const bytes of ['\0\x05\0\0gone\0', '\0\x04\0\x63', '\0\x03\0\x01x', '\0']) {
            stranger.send(Buffer.from(bytes, 'latin1'), from.port, from.address)
          }
          return false
        },
      })
      stranger.close()
      expect(result).toMatchObject({ outcome: 'complete', sha256: sha256(loader) })
    })

    it('nor when it knows the port of the transfer', async () => {
      const from = await start({ 'ipxe.efi': onDisk })
      const client = await bindSocket()
      const stranger = await bindSocket()
      stranger.on('error', () => {})
      const request = Buffer.from('\0\x01ipxe.efi\0octet\0blksize\x001024\0', 'latin1')
      const transferPort = await new Promise<number>((resolve) => {
        client.once('message', (_, { port }) => resolve(port))
        client.send(request, from.port, from.address)
      })
      for (const bytes of ['\0\x05\0\0gone\0', '\0\x04\0\0', '\0\x02x\0octet\0']) {
        await new Promise<void>((resolve) =>
          stranger.send(Buffer.from(bytes, 'latin1'), transferPort, from.address, () => resolve()),
        )
      }
      const next = new Promise<Buffer>((resolve) => client.once('message', resolve))
      client.send(Buffer.from([0, 4, 0, 0]), transferPort, from.address)
      expect((await next).subarray(0, 4)).toEqual(Buffer.from([0, 3, 0, 1]))
      client.close()
      stranger.close()
    })
  })

  describe('addresses and ports', () => {
    it('answers come from the address that was asked (case 50)', async () => {
      const from = await start({ 'x.efi': 'MZ' }, {}, '127.0.0.9')
      const result = await read(from, 'x.efi', { options: { tsize: 0 } })
      expect([...result.fromAddresses]).toEqual(['127.0.0.9'])
      const [refusal] = [await read(from, 'nothing')]
      expect([...refusal.fromAddresses]).toEqual(['127.0.0.9'])
    })

    it('each address behind a wildcard answers for itself', async () => {
      const from = await start({ 'x.efi': 'MZ' }, {}, '0.0.0.0')
      expect(from.server.isReady).toBe(true)
      for (const { address, port } of from.server.listening) {
        const result = await readByTftp({ server: { address, port }, name: 'x.efi' })
        expect([...result.fromAddresses]).toEqual([address])
      }
    })

    it('over IPv6', async ({ skip }) => {
      const probe = await bindSocket('::1').catch(() => undefined)
      if (probe === undefined) skip('no IPv6 here')
      probe?.close()
      const from = await start({ 'ipxe.efi': onDisk }, { mtuOf: () => 1500 }, '::1')
      const options = { blksize: 65464, windowsize: 4 }
      const result = await read(from, 'ipxe.efi', { localAddress: '::1', options })
      expect(result).toMatchObject({ outcome: 'complete', oack: { blksize: '1448' }, sha256: sha256(loader) })
    })

    it('each transfer has a port of its own, where that is asked for', async () => {
      const from = await start({ x: patterned(2000) }, { ports: { mode: 'each' } })
      const results = await Promise.all(Array.from({ length: 5 }, () => read(from, 'x')))
      const ports = new Set(results.flatMap(({ fromPorts }) => [...fromPorts]))
      expect(ports.size).toBe(5)
      expect(ports.has(from.port)).toBe(false)
    })

    it('by default transfers come from other ports than the one that listens', async () => {
      const from = await start({ x: patterned(2000) })
      for (let times = 0; times < 3; times += 1) {
        const result = await read(from, 'x')
        expect(result.outcome).toBe('complete')
        expect(result.fromPorts.has(from.port)).toBe(false)
      }
    })

    it('single-port mode: all transfers from the one port, and strangers are told (case 77)', async () => {
      const from = await start({ 'ipxe.efi': onDisk }, { ports: { mode: 'single' } })
      const reading = Promise.all(
        [1, 4, 8, 16].map((windowsize) => read(from, 'ipxe.efi', { options: { blksize: 1468, windowsize } })),
      )
      const strangers = await exchange(from, '\0\x04\0\x07')
      expect(strangers.map((answer) => answer.readUInt16BE(2))).toEqual([5])
      for (const result of await reading) {
        expect(result).toMatchObject({ outcome: 'complete', sha256: sha256(loader) })
        expect([...result.fromPorts]).toEqual([from.port])
      }
    })

    it('range mode: ports stay inside, and the twelfth transfer waits for one (case 77)', async () => {
      const first = 30_000 + (process.pid % 20_000)
      const from = await start({ x: patterned(3000) }, { ports: { mode: 'range', first, last: first + 10 } })
      const sockets = await Promise.all(Array.from({ length: 11 }, () => bindSocket()))
      const ports = await Promise.all(
        sockets.map(
          (socket) =>
            new Promise<number>((resolve) => {
              socket.once('message', (_, { port }) => resolve(port))
              socket.send(Buffer.from('\0\x01x\0octet\0', 'latin1'), from.port, from.address)
            }),
        ),
      )
      expect([...new Set(ports)].sort()).toEqual(Array.from({ length: 11 }, (_, at) => first + at))
      const twelfth = read(from, 'x', { repeatAfterMs: 60 })
      await from.seen((event) => event.type === 'ignored' && event.reason === 'no-free-port')
      const freed = sockets[0]
      freed?.send(Buffer.from('\0\x05\0\0enough\0', 'latin1'), ports[0] ?? 0, from.address)
      expect(await twelfth).toMatchObject({ outcome: 'complete' })
      expect(first <= Math.min(...ports) && Math.max(...ports) <= first + 10).toBe(true)
      for (const socket of sockets) socket.close()
    })

    it('a port that is taken is a clear error', async () => {
      const taken = await bindSocket('127.0.0.1')
      const { port } = taken.address()
      const starting = startService({}, { listen: [{ kind: 'address', address: '127.0.0.1', port }] })
      await expect(starting).rejects.toSatisfy(
        (error) => isServiceError(error, 'LISTEN_FAILED') && error.message.includes(`port ${port} is taken`),
      )
      taken.close()
    })

    it('an address that this machine does not have yet is waited for', async () => {
      const from = await start(
        { x: 'y' },
        {
          listen: [
            { kind: 'address', address: '127.0.0.1', port: 0 },
            { kind: 'address', address: '203.0.113.9', port: 0 },
          ],
        },
      )
      expect(from.server.isReady).toBe(false)
      expect(await read(from, 'x')).toMatchObject({ outcome: 'complete' })
    })
  })

  describe('limits degrade by silence (case 78)', () => {
    it('one transfer too many gets no answer, then its turn', async () => {
      const from = await start({ x: patterned(3000) }, { limits: { total: 1 } })
      const first = await bindSocket()
      const port = await new Promise<number>((resolve) => {
        first.once('message', (_, remote) => resolve(remote.port))
        first.send(Buffer.from('\0\x01x\0octet\0', 'latin1'), from.port, from.address)
      })
      first.send(Buffer.from([0, 4, 0, 1]), port, from.address)
      const second = read(from, 'x', { repeatAfterMs: 60 })
      await from.seen((event) => event.type === 'ignored' && event.reason === 'limit-total')
      first.send(Buffer.from('\0\x05\0\0enough\0', 'latin1'), port, from.address)
      const result = await second
      expect(result).toMatchObject({ outcome: 'complete' })
      expect(result.repeats).toBeGreaterThan(0)
      first.close()
    })

    it('a flood of requests from many ports is bounded in transfers and in what is sent', async () => {
      const from = await start({ x: patterned(3000) }, { limits: { total: 20, perClient: 10 } })
      const sockets = await Promise.all(Array.from({ length: 60 }, () => bindSocket('127.0.0.3')))
      let received = 0
      for (const socket of sockets) {
        socket.on('message', () => {
          received += 1
        })
        socket.send(Buffer.from('\0\x01x\0octet\0tsize\x000\0', 'latin1'), from.port, from.address)
      }
      const honest = await read(from, 'x', { localAddress: '127.0.0.1' })
      expect(honest).toMatchObject({ outcome: 'complete', repeats: 0 })
      await from.seen((event) => event.type === 'ended' && event.outcome === 'served')
      expect(from.server.activeTransfers).toBeLessThanOrEqual(10)
      expect(received).toBeLessThanOrEqual(10 * 6)
      for (const socket of sockets) socket.close()
    })
  })

  describe('the end of the server', () => {
    it('tells its clients and leaves nothing open', async () => {
      const from = await start({ x: patterned(100_000) })
      const reading = read(from, 'x', { isLost: (packet) => packet > 3, repeatAfterMs: 5_000 })
      await from.seen(({ type }) => type === 'requested')
      await from.server.stop()
      await from.server.stop()
      expect(from.events.at(-1)).toMatchObject({ type: 'ended', outcome: 'cancelled' })
      expect(from.server.listening).toEqual([])
      expect(from.server.activeTransfers).toBe(0)
      // The ERROR is among the packets that this client does not see.
      void reading
    })

    it('with grace, transfers go on to their end and new ones are left to ask again', async () => {
      const from = await start({ 'ipxe.efi': onDisk })
      const reading = read(from, 'ipxe.efi', { options: { blksize: 1024 } })
      await from.seen(({ type }) => type === 'requested')
      const stopping = from.server.stop(10_000)
      expect(await exchange(from, '\0\x01ipxe.efi\0octet\0')).toEqual([])
      expect(await reading).toMatchObject({ outcome: 'complete', sha256: sha256(loader) })
      await stopping
      expect(from.server.listening).toEqual([])
    })
  })
})
