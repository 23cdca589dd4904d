import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseBootId } from '../../src/core/boot-event.ts'
import type { ServedFile } from '../../src/core/catalog.ts'
import { loadKernelFiles } from '../../src/http/boot/kernel-files.ts'
import { type BootRig, bytesOf, startBootRig } from '../fakes/boot-rig.ts'
import { settled } from '../fakes/manual-time.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'

const kernel = await loadKernelFiles()
if (kernel === undefined) console.log('files are not sent by the kernel here: koffi or Linux is missing')
const ways = [
  { way: 'through this process', kernel: undefined },
  ...(kernel ? [{ way: 'by the kernel', kernel }] : []),
]

describe.each(ways)('sent $way', ({ kernel }) => {
  let rig: BootRig
  let rootfs: ServedFile
  let path: string

  beforeEach(async () => {
    rig = await startBootRig({ kernel, limits: { cacheBytes: 8 * 1024 * 1024, settlingMs: 0 } })
    rootfs = rig.image.rootfs as ServedFile
    path = `/artifacts/${rootfs.sha256}/rootfs.img`
  })
  afterEach(() => rig.stop())

  const get = (target: string, headers: readonly string[] = []) => requestRaw(rig.port, target, { headers })
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

  describe('a verified file', () => {
    test('G1 arrives whole, with the digest that its URL names', async () => {
      for (const file of [rig.image.kernel, rig.image.initramfs, rootfs]) {
        const { status, body } = await get(`/artifacts/${file.sha256}/any-name`)
        expect([status, body.length, sha256(body)]).toEqual([200, file.sizeBytes, file.sha256])
      }
    })

    test('has a strong tag, a date of its own and no end of life (field case 97)', async () => {
      const { headers } = await get(path)
      expect(Object.fromEntries(headers)).toMatchObject({
        'Content-Type': 'application/octet-stream',
        ETag: `"${rootfs.sha256}"`,
        'Last-Modified': 'Sun, 01 Nov 2026 12:00:00 GMT',
        'Accept-Ranges': 'bytes',
        'Cache-Control': 'public, max-age=31536000, immutable',
      })
    })

    test('has the same tag and date after a restart', async () => {
      const before = await get(path)
      await rig.listener.close()
      const { createBootListener } = await import('../../src/http/boot/boot-listener.ts')
      const again = createBootListener({
        catalog: { current: () => rig.catalog },
        bootService: rig.service,
        renderer: rig.renderer,
        log: rig.log,
        clock: rig.time,
      })
      const { port } = await again.listen({ host: '127.0.0.1', port: 0 })
      const after = await requestRaw(port, path)
      for (const name of ['ETag', 'Last-Modified'])
        expect(after.headers.get(name)).toBe(before.headers.get(name))
      await again.close()
    })

    test('is found by a digest in capitals', async () => {
      expect((await get(`/artifacts/${rootfs.sha256.toUpperCase()}/x`)).status).toBe(200)
    })

    test('comes at any size, also one byte more or less than a block', async () => {
      for (const size of [1, 524_287, 524_288, 524_289, 1_048_576]) {
        const file = await rig.addFile(`f${size}`, 'disk', bytesOf(`size ${size}`, size))
        const { body } = await get(`/artifacts/${file.sha256}/f`)
        expect([body.length, sha256(body)]).toEqual([size, file.sha256])
      }
    })

    test('its detached signature stands beside it, where one is kept', async () => {
      const { kernel } = rig.image
      const signature = await get(`/artifacts/${kernel.sha256}/vmlinuz.sig`)
      expect(signature.body.toString()).toBe('a detached signature')
      expect(signature.headers.get('Content-Type')).toBe('application/octet-stream')
      expect(signature.headers.get('ETag')).toBe(`"${sha256(signature.body)}"`)
      expect((await get(`/artifacts/${rootfs.sha256}/rootfs.img.sig`)).status).toBe(404)
    })

    test('a kept signature that cannot be read is 503, never an empty file', async () => {
      const { sha256: digest, signaturePath = '' } = rig.image.kernel
      for (const spoil of [() => truncate(signaturePath, 0), () => rm(signaturePath)]) {
        await spoil()
        const { status, headers } = await get(`/artifacts/${digest}/vmlinuz.sig`)
        expect([status, headers.get('Retry-After')]).toEqual([503, '30'])
      }
    })

    test('of a UEFI program says so in its media type', async () => {
      const efi = await rig.addFile('ipxe.efi', 'disk', bytesOf('efi', 100))
      expect((await get(`/artifacts/${efi.sha256}/ipxe.efi`)).headers.get('Content-Type')).toBe(
        'application/efi',
      )
    })
  })

  describe('Range (field cases 95, 97)', () => {
    test.each(['bytes=u-u', 'bytes=-1540874240--1540857857', 'bytes=', 'lines=0-1', 'bytes=0-1,3-4'])(
      '%s: the whole file',
      async (range) => {
        const { status, headers, body } = await get(path, [`Range: ${range}`])
        expect([status, body.length, headers.has('Content-Range')]).toEqual([200, 5_000_001, false])
      },
    )

    test.each([
      ['bytes=100-199', 100, 200],
      ['bytes=-10', 4_999_991, 5_000_001],
      ['bytes=4999999-', 4_999_999, 5_000_001],
      ['bytes=524200-1049000', 524_200, 1_049_001],
    ])('%s: 206 and exactly that', async (range, start, end) => {
      const { status, headers, body } = await get(path, [`Range: ${range}`])
      expect(status).toBe(206)
      expect(headers.get('Content-Range')).toBe(`bytes ${start}-${end - 1}/5000001`)
      expect(headers.get('Content-Length')).toBe(String(end - start))
      expect(body.equals(bytesOf('rootfs', 5_000_001).subarray(start, end))).toBe(true)
    })

    test('behind the end: 416 with the length', async () => {
      const { status, headers } = await get(path, ['Range: bytes=5000001-'])
      expect([status, headers.get('Content-Range')]).toEqual([416, 'bytes */5000001'])
    })

    test('two Range headers are more than one range', async () => {
      expect((await get(path, ['Range: bytes=0-1', 'Range: bytes=4-5'])).status).toBe(200)
    })

    test('HEAD has no ranges (RFC 9110 §14.2)', async () => {
      const answer = await requestRaw(rig.port, path, { method: 'HEAD', headers: ['Range: bytes=0-1'] })
      expect([answer.status, answer.headers.get('Content-Length')]).toEqual([200, '5000001'])
    })

    test('EDK2 resumes with Range and If-Match; another tag is 412', async () => {
      const tag = `"${rootfs.sha256}"`
      const resumed = await get(path, ['Range: bytes=4000000-', `If-Match: ${tag}`])
      expect([resumed.status, resumed.body.length]).toEqual([206, 1_000_001])
      const other = await get(path, ['Range: bytes=4000000-', 'If-Match: "other"'])
      expect([other.status, other.headers.get('Content-Type')]).toEqual([412, 'text/plain; charset=utf-8'])
      const since = await get(path, [
        'Range: bytes=4000000-',
        'If-Unmodified-Since: Sun, 01 Nov 2026 11:00:00 GMT',
      ])
      expect(since.status).toBe(412)
    })

    test('If-Range with another tag or date gets the whole file', async () => {
      const range = 'Range: bytes=0-99'
      expect((await get(path, [range, `If-Range: "${rootfs.sha256}"`])).status).toBe(206)
      expect((await get(path, [range, 'If-Range: Sun, 01 Nov 2026 12:00:00 GMT'])).status).toBe(206)
      expect((await get(path, [range, 'If-Range: "other"'])).status).toBe(200)
      expect((await get(path, [range, `If-Range: W/"${rootfs.sha256}"`])).status).toBe(200)
    })

    test('304 is for those alone who sent If-None-Match', async () => {
      const known = await get(path, [`If-None-Match: "${rootfs.sha256}"`])
      expect([known.status, known.body.length, known.headers.get('ETag')]).toEqual([
        304,
        0,
        `"${rootfs.sha256}"`,
      ])
      const dated = await get(path, ['If-Modified-Since: Sun, 29 Nov 2026 12:00:00 GMT'])
      expect(dated.status).toBe(200)
    })

    test('a file in pieces of any size is the file', async () => {
      const pieces: Buffer[] = []
      const connection = await openRaw(rig.port)
      for (let at = 0; at < 5_000_001; at += 777_777) {
        connection.send(`GET ${path} HTTP/1.1\r\nRange: bytes=${at}-${at + 777_776}\r\n\r\n`)
        pieces.push((await connection.next()).body)
      }
      connection.destroy()
      expect(sha256(Buffer.concat(pieces))).toBe(rootfs.sha256)
    })
  })

  describe('G1 a file that is not as the catalog says is 503, never other bytes (field case 83)', () => {
    test.each([
      ['absent', () => rm(rootfs.path)],
      ['empty', () => truncate(rootfs.path, 0)],
      ['wrong-size', () => truncate(rootfs.path, 1000)],
      ['wrong-size', () => writeFile(rootfs.path, 'error page', { flag: 'a' })],
      ['changed-since-verified', () => writeFile(rootfs.path, bytesOf('other bytes', 5_000_001))],
    ])('%s', async (problem, spoil) => {
      await spoil()
      for (const method of ['GET', 'HEAD']) {
        const answer = await requestRaw(rig.port, path, { method })
        expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '30'])
      }
      expect(rig.problems).toEqual([`${rootfs.sha256} ${problem}`, `${rootfs.sha256} ${problem}`])
      expect(rig.events.map((event) => 'status' in event && event.status)).toEqual([503, 503])
      expect(rig.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    })

    test('cut while it is sent: the connection breaks, nothing is made up', async () => {
      const large = await rig.addFile('large', 'disk', bytesOf('large', 30_000_000))
      const connection = await openRaw(rig.port)
      connection.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`)
      await once(connection.socket, 'data')
      connection.socket.pause()
      await truncate(large.path, 1_000_000)
      connection.socket.resume()
      const received = await connection.closed()
      const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
      expect(body.length).toBeLessThan(30_000_000)
      // What the kernel still sends shares its page with the cut, and has zeros behind it; the broken connection tells.
      const sure = kernel === undefined ? body.length : Math.min(body.length, 1_000_000 - (1_000_000 % 4096))
      expect(body.subarray(0, sure).equals(bytesOf('large', 30_000_000).subarray(0, sure))).toBe(true)
      while (rig.problems.length === 0) await settled()
      expect(rig.problems).toEqual([`${large.sha256} changed-while-sent`])
    })
  })

  /** The node has its last byte a moment before the service knows that it is gone. */
  async function firstEnd() {
    const end = () => rig.events.find(({ type }) => type === 'artifact-sent')
    while (end() === undefined) await settled()
    return end()
  }

  describe('boots and their leases', () => {
    const bootId = 'AAECAwQFBgcICQoLDA0ODw'

    test('a boot id keeps its lease and is told with the transfer', async () => {
      await get(`${path}?boot=${bootId}`)
      await firstEnd()
      expect(rig.service.touched).toEqual([bootId])
      expect(rig.events).toEqual([
        {
          type: 'artifact-progress',
          at: rig.time.now(),
          bootId,
          role: 'rootfs',
          name: 'fcos-live-rootfs.x86_64.img',
          reachedBytes: 0,
          totalBytes: 5_000_001,
          address: '127.0.0.1',
        },
        {
          type: 'artifact-sent',
          at: rig.time.now(),
          bootId,
          role: 'rootfs',
          name: 'fcos-live-rootfs.x86_64.img',
          method: 'GET',
          status: 200,
          sentBytes: 5_000_001,
          totalBytes: 5_000_001,
          durationMs: 0,
          completed: true,
          address: '127.0.0.1',
        },
      ])
    })

    test('a transfer that lasts is told of once a second, with the place that it has reached', async () => {
      const large = await rig.addFile('large', 'rootfs', bytesOf('large', 30_000_000))
      const connection = await openRaw(rig.port)
      connection.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\nRange: bytes=1000-\r\n\r\n`)
      await once(connection.socket, 'data')
      connection.socket.pause()
      await rig.time.advance(1_500)
      connection.socket.resume()
      await connection.next()
      connection.destroy()
      await firstEnd()
      const told = rig.events.flatMap((event) => (event.type === 'artifact-progress' ? [event] : []))
      expect(told.map(({ at }) => rig.time.now() - at)).toEqual([1_500, 0])
      expect(told[0]).toMatchObject({ reachedBytes: 1_000, totalBytes: 30_000_000 })
      expect(told[1]?.reachedBytes).toBeGreaterThan(1_000)
    })

    test('the trace of a request is told with its transfer, and what is none is not', async () => {
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
      await requestRaw(rig.port, path, { headers: [`Traceparent: 00-${trace}-00f067aa0ba902b7-01`] })
      expect(await firstEnd()).toMatchObject({ trace })
      rig.events.length = 0
      await requestRaw(rig.port, path, { headers: [`traceparent: 00-${trace}-00f067aa0ba902b7`] })
      expect(await firstEnd()).toMatchObject({ trace: undefined })
    })

    test.each(['?boot=unknown', '?boot=', '?boot=../../x', '?other=1&boot', ''])(
      'with %s the file is served all the same',
      async (query) => {
        const { status, body } = await get(`${path}${query}`)
        expect([status, body.length]).toEqual([200, 5_000_001])
        expect(rig.service.touched).toEqual([])
        expect(await firstEnd()).toMatchObject({ bootId: undefined, completed: true })
      },
    )

    test('G6 a long transfer renews its lease every minute', async () => {
      const large = await rig.addFile('large', 'rootfs', bytesOf('large', 30_000_000))
      const connection = await openRaw(rig.port)
      connection.send(`GET /artifacts/${large.sha256}/x?boot=${bootId} HTTP/1.1\r\n\r\n`)
      await once(connection.socket, 'data')
      connection.socket.pause()
      const before = rig.service.touched.length
      await rig.time.advance(61_000)
      connection.socket.resume()
      await connection.next()
      connection.destroy()
      await firstEnd()
      expect(before).toBe(1)
      expect(rig.service.touched).toEqual([bootId, parseBootId(bootId)])
    })

    test('a client that goes away is an event, not an error', async () => {
      const large = await rig.addFile('large', 'rootfs', bytesOf('large', 30_000_000))
      const connection = await openRaw(rig.port)
      connection.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`)
      await once(connection.socket, 'data')
      connection.destroy()
      expect(await firstEnd()).toMatchObject({ type: 'artifact-sent', status: 200, completed: false })
      expect(rig.problems).toEqual([])
      expect(rig.log.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    })

    test('HEAD sends nothing and is told as such', async () => {
      await requestRaw(rig.port, path, { method: 'HEAD' })
      await firstEnd()
      expect(rig.events).toMatchObject([{ method: 'HEAD', status: 200, sentBytes: 0, completed: true }])
    })

    test('G6 a file that is unlinked in the middle of its transfer arrives whole', async () => {
      const large = await rig.addFile('large', 'rootfs', bytesOf('large', 30_000_000))
      const connection = await openRaw(rig.port)
      connection.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`)
      await once(connection.socket, 'data')
      connection.socket.pause()
      await rm(large.path)
      connection.socket.resume()
      expect(sha256((await connection.next()).body)).toBe(large.sha256)
      connection.destroy()
    })
  })

  describe('what is not here', () => {
    test('wanted and not ready: 503 with Retry-After and what is going on', async () => {
      const [awaited] = rig.catalog.awaited
      const { status, headers, body } = await get(`/artifacts/${awaited}/vmlinuz`)
      expect([status, headers.get('Retry-After')]).toEqual([503, '10'])
      expect(body.toString()).toBe(
        '45.1.2.3 of fcos-testing for x86_64 is downloading. This is its kernel. It is served as soon as its whole set is verified.\n',
      )
    })

    test('never existed: 404, one log line a minute for each client and name (field cases 84, 165)', async () => {
      const target = `/artifacts/${'0'.repeat(64)}/vmlinuz`
      for (let round = 0; round < 5; round += 1) expect((await get(target)).status).toBe(404)
      await get('/autoexec.cfg')
      const misses = rig.log.lines.filter(
        ({ message }) => message === 'boot request for nothing that is here',
      )
      expect(misses.map(({ level, fields }) => [level, fields.path])).toEqual([
        ['info', target],
        ['info', '/autoexec.cfg'],
      ])
    })

    test('what a client sends into the log cannot forge a line or colour a terminal', async () => {
      for (const target of ['/a%1b[31m?serial=secret', '/a%0aforged']) await get(target)
      expect(rig.log.lines.map(({ fields }) => fields.path)).toEqual(['/a%1b[31m', '/a%0aforged'])
    })

    test('G2 a set that left the catalog while it was sent arrives whole, a new request is told', async () => {
      const connection = await openRaw(rig.port)
      connection.send(`GET ${path} HTTP/1.1\r\n\r\n`)
      await once(connection.socket, 'data')
      rig.catalog = { ...rig.catalog, files: new Map(), ready: new Map() }
      expect(sha256((await connection.next()).body)).toBe(rootfs.sha256)
      connection.destroy()
      expect((await get(path)).status).toBe(404)
    })
  })

  test('many clients at once, at their own pace, each get the file, from a cache smaller than it', async () => {
    const large = await rig.addFile('large', 'rootfs', bytesOf('large', 12_000_000))
    const digests = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const start = index * 123_456
        const { body } = await get(`/artifacts/${large.sha256}/x`, [`Range: bytes=${start}-`])
        return [body.length, body.equals(bytesOf('large', 12_000_000).subarray(start))]
      }),
    )
    expect(digests).toEqual(Array.from({ length: 24 }, (_, index) => [12_000_000 - index * 123_456, true]))
  })

  test('every buffer pinned by clients that do not read: the others still get their files', async () => {
    const large = await rig.addFile('large', 'rootfs', bytesOf('large', 40_000_000))
    const stuck = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const connection = await openRaw(rig.port)
        connection.socket.pause()
        connection.send(
          `GET /artifacts/${large.sha256}/x HTTP/1.1\r\nRange: bytes=${index * 1_500_000}-\r\n\r\n`,
        )
        return connection
      }),
    )
    const { body } = await get(path)
    expect(sha256(body)).toBe(rootfs.sha256)
    for (const connection of stuck) connection.destroy()
  })
})
