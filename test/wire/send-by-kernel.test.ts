import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type KernelFiles, loadKernelFiles } from '../../src/http/boot/kernel-files.ts'
import { type BootRig, bytesOf, startBootRig } from '../fakes/boot-rig.ts'
import { settled } from '../fakes/manual-time.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'

const real = await loadKernelFiles()
if (real === undefined) console.log('files are not sent by the kernel here: koffi or Linux is missing')
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const sizeBytes = 30_000_000

let rig: BootRig
afterEach(() => rig.stop())

async function start(kernel: KernelFiles, settlingMs = 0) {
  rig = await startBootRig({ kernel, limits: { cacheBytes: 8 * 1024 * 1024, settlingMs } })
  const file = await rig.addFile('large', 'rootfs', bytesOf('large', sizeBytes))
  return { file, path: `/artifacts/${file.sha256}/large` }
}

describe.skipIf(real === undefined)('files that the kernel sends', () => {
  const kernel = real as KernelFiles

  test('a client that stops and goes on has every byte', async () => {
    let sentBytes = 0
    let isFull = false
    const { path, file } = await start({
      ...kernel,
      send(...given) {
        const result = kernel.send(...given)
        if (result.kind === 'sent') sentBytes += result.bytes
        isFull ||= result.kind === 'full' || (result.kind === 'sent' && result.bytes < given[3])
        return result
      },
    })
    const connection = await openRaw(rig.port)
    connection.send(`GET ${path} HTTP/1.1\r\n\r\n`)
    await once(connection.socket, 'data')
    connection.socket.pause()
    while (!isFull) await settled()
    expect(sentBytes).toBeLessThan(sizeBytes)
    connection.socket.resume()
    expect(sha256((await connection.next()).body)).toBe(file.sha256)
    // Nearly all of it went past this process.
    expect(sentBytes).toBeGreaterThan(sizeBytes * 0.9)
    connection.destroy()
  })

  test('a lone client that is not slow has its bytes from memory, several share those of the kernel', async () => {
    let calls = 0
    const counting: KernelFiles = {
      ...kernel,
      send(...given) {
        calls += 1
        return kernel.send(...given)
      },
    }
    const { path, file } = await start(counting, 20)
    expect(sha256((await requestRaw(rig.port, path)).body)).toBe(file.sha256)
    expect(calls).toBe(0)
    const bodies = await Promise.all([requestRaw(rig.port, path), requestRaw(rig.port, path)])
    for (const { body } of bodies) expect(sha256(body)).toBe(file.sha256)
    expect(calls).toBeGreaterThan(0)
  })

  test('one connection serves several files, and answers of other kinds between them', async () => {
    const { path, file } = await start(kernel)
    const connection = await openRaw(rig.port)
    for (let round = 0; round < 3; round += 1) {
      connection.send(`GET ${path} HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\n\r\n`)
      expect(sha256((await connection.next()).body)).toBe(file.sha256)
      expect((await connection.next()).status).toBe(404)
    }
    connection.destroy()
  })

  test('what is not in memory is read first, away from the event loop', async () => {
    const read: number[] = []
    const { path, file } = await start({
      ...kernel,
      isResident(_descriptor, position, bytes) {
        read.push(position + bytes)
        return false
      },
    })
    expect(sha256((await requestRaw(rig.port, path)).body)).toBe(file.sha256)
    expect(Math.max(...read)).toBe(sizeBytes)
  })

  test('a file system that cannot is served through this process, from where the kernel came to', async () => {
    let calls = 0
    const { path, file } = await start({
      ...kernel,
      send(...given) {
        calls += 1
        return calls === 3 ? { kind: 'unable' } : kernel.send(...given)
      },
    })
    expect(sha256((await requestRaw(rig.port, path)).body)).toBe(file.sha256)
    expect(calls).toBe(3)
  })

  test('G1 a file that is written into while its bytes wait in the socket never arrives whole', async () => {
    let isWaiting = false
    let isWritten = false
    const { path, file } = await start({
      ...kernel,
      unacknowledged(socket) {
        isWaiting = true
        return isWritten ? kernel.unacknowledged(socket) : 1
      },
    })
    const connection = await openRaw(rig.port)
    connection.send(`GET ${path} HTTP/1.1\r\n\r\n`)
    while (!isWaiting) await settled()
    const writer = await open(file.path, 'r+')
    await writer.write(Buffer.alloc(1000), 0, 1000, 500_000)
    await writer.close()
    isWritten = true
    const received = await connection.closed()
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
    expect(body.length).toBe(sizeBytes - 16 * 1024)
    while (rig.problems.length === 0) await settled()
    expect(rig.problems).toEqual([`${file.sha256} changed-while-sent`])
  })

  test('G2 a client that went away leaves no byte to whoever has its descriptor next', async () => {
    const { path, file } = await start(kernel)
    for (let round = 0; round < 20; round += 1) {
      const leaver = await openRaw(rig.port)
      leaver.send(`GET ${path} HTTP/1.1\r\n\r\n`)
      await once(leaver.socket, 'data')
      leaver.destroy()
      const { status, body } = await requestRaw(rig.port, path)
      expect([status, sha256(body)]).toEqual([200, file.sha256])
    }
    while (rig.events.length < 40) await settled()
    expect(rig.problems).toEqual([])
  })
})
