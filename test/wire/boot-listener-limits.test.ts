import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { isServiceError } from '../../src/core/errors.ts'
import { silentLog } from '../../src/core/log.ts'
import { createBootListener } from '../../src/http/boot/boot-listener.ts'
import {
  type BootRig,
  type BootRigOptions,
  bytesOf,
  createScriptedBootService,
  plainRenderer,
  startBootRig,
} from '../fakes/boot-rig.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { settled } from '../fakes/manual-time.ts'
import { openRaw, requestRaw } from '../fakes/raw-http.ts'

let rig: BootRig | undefined

async function start(options: BootRigOptions = {}): Promise<BootRig> {
  rig = await startBootRig(options)
  return rig
}
afterEach(async () => {
  await rig?.stop()
  rig = undefined
})

describe('time', () => {
  test('a header that does not arrive in time is 408 and the end', async () => {
    const { port } = await start({ limits: { headerTimeoutMs: 200 } })
    const slow = await openRaw(port)
    slow.send('GET /boot.ipxe HTTP/1.1\r\nX-Slow: ')
    expect((await slow.next()).status).toBe(408)
    await slow.closed()
    const silent = await openRaw(port)
    const answer = (await silent.closed()).toString('latin1')
    expect(answer).toMatch(/^$|^HTTP\/1\.1 408 /)
  })

  test('a reader that takes nothing is given up, one that takes a little is not', async () => {
    const { port, addFile, events } = await start({ limits: { stallTimeoutMs: 1000 } })
    const large = await addFile('large', 'rootfs', bytesOf('large', 30_000_000))
    const request = `GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`

    const stalled = await openRaw(port)
    stalled.send(request)
    await once(stalled.socket, 'data')
    stalled.socket.pause()
    while (events.length < 2) await settled()
    expect(events).toMatchObject([{ reachedBytes: 0 }, { status: 200, completed: false }])
    stalled.destroy()

    const slow = await openRaw(port)
    slow.send(request)
    const startedAt = Date.now()
    while (Date.now() - startedAt < 2500) {
      await once(slow.socket, 'data')
      slow.socket.pause()
      await new Promise((resolve) => setTimeout(resolve, 10))
      slow.socket.resume()
    }
    expect(events.filter(({ type }) => type === 'artifact-sent')).toHaveLength(1)
    expect((await slow.next()).body.length).toBe(30_000_000)
    slow.destroy()
  })
})

describe('numbers', () => {
  test('one address cannot have every connection; when it lets go, it may have others', async () => {
    const { port, log } = await start({ limits: { maxConnectionsPerAddress: 3 } })
    const held = await Promise.all([openRaw(port), openRaw(port), openRaw(port)])
    for (let round = 0; round < 3; round += 1) {
      const refused = await openRaw(port)
      expect((await refused.closed()).length).toBe(0)
    }
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'too many boot connections from one address'],
    ])
    held[0]?.destroy()
    for (;;) {
      const next = await openRaw(port)
      next.send('GET /boot.ipxe HTTP/1.1\r\n\r\n')
      const answer = await next.next().catch(() => undefined)
      next.destroy()
      if (answer !== undefined) break
    }
    for (const connection of held) connection.destroy()
  })

  test('nor can all of them together have more than there are', async () => {
    const { port, log } = await start({ limits: { maxConnections: 2 } })
    const held = await Promise.all([openRaw(port), openRaw(port)])
    const refused = await openRaw(port)
    expect((await refused.closed()).length).toBe(0)
    expect(log.lines.map(({ message }) => message)).toEqual(['too many boot connections'])
    for (const connection of held) connection.destroy()
  })

  test('silent ones make room for newcomers, those that are answered do not', async () => {
    const { port, log, addFile } = await start({ limits: { maxConnections: 16 } })
    const large = await addFile('large', 'rootfs', bytesOf('large', 60_000_000))
    const busy = await openRaw(port)
    busy.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`)
    await once(busy.socket, 'data')
    busy.socket.pause()
    const halfAsked = await openRaw(port)
    halfAsked.send('GET /boot.ipxe HTTP/1.1\r\nX-Slow: ')
    const kept = []
    for (let count = 0; count < 40; count += 1) {
      const newcomer = await openRaw(port)
      newcomer.send('GET /boot.ipxe HTTP/1.1\r\n\r\n')
      expect((await newcomer.next()).status).toBe(200)
      kept.push(newcomer)
    }
    await halfAsked.closed()
    busy.socket.resume()
    expect((await busy.next()).body.length).toBe(60_000_000)
    expect(log.lines).toEqual([])
    for (const connection of [busy, ...kept]) connection.destroy()
  })

  test('requests without end ahead of their answers end the connection', async () => {
    const { port, image } = await start()
    const connection = await openRaw(port)
    connection.send(`GET /artifacts/${image.rootfs?.sha256}/x HTTP/1.1\r\n\r\n`.repeat(200))
    await connection.closed()
    expect((await requestRaw(port, '/boot.ipxe')).status).toBe(200)
  })
})

describe('start and stop', () => {
  function listenerOf() {
    return createBootListener({
      catalog: { current: () => makeCatalog() },
      bootService: createScriptedBootService(),
      renderer: plainRenderer,
      log: silentLog,
      clock: { now: () => 0 },
    })
  }

  test('a port that is taken is an error that names it', async () => {
    const { port } = await start()
    const error = await listenerOf()
      .listen({ host: '127.0.0.1', port })
      .catch((reason: unknown) => reason)
    expect(isServiceError(error, 'LISTEN_FAILED')).toBe(true)
    expect((error as Error).message).toBe(
      `the boot listener cannot open 127.0.0.1 port ${port}: something else listens there`,
    )
  })

  test('a socket that the service manager opened is taken over', async () => {
    const manager: Server = createServer()
    manager.listen(0, '127.0.0.1')
    await once(manager, 'listening')
    const { port } = manager.address() as AddressInfo
    const { fd } = (manager as unknown as { _handle: { fd: number } })._handle
    const child = spawn(process.execPath, [join(import.meta.dirname, 'inherited-socket.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit', fd],
    })
    await once(child.stdout as Readable, 'data')
    manager.close()
    expect((await requestRaw(port, '/boot.ipxe')).body.toString()).toContain(`http://127.0.0.1:${port}/ipxe`)
    child.stdin?.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('IPv6 addresses stand in brackets in URLs', async () => {
    const listener = listenerOf()
    const { port } = await listener.listen({ host: '::1', port: 0 })
    const connection = await openRaw(port, '::1')
    connection.send('GET /boot.ipxe HTTP/1.1\r\n\r\n')
    expect((await connection.next()).body.toString()).toContain(`chain http://[::1]:${port}/ipxe`)
    connection.destroy()
    await listener.close()
  })

  test('IPv4 on a dual-stack socket is IPv4 in URLs and towards the boot service', async () => {
    const service = createScriptedBootService()
    const listener = createBootListener({
      catalog: { current: () => makeCatalog() },
      bootService: service,
      renderer: plainRenderer,
      log: silentLog,
      clock: { now: () => 0 },
    })
    const { port } = await listener.listen({ host: '::', port: 0 })
    expect((await requestRaw(port, '/ipxe?arch=x86_64')).body.toString()).toContain(
      ` http://127.0.0.1:${port}\n`,
    )
    expect(service.answered[0]?.address).toBe('127.0.0.1')
    await listener.close()
  })

  test('a contact is told once a connection, with the address that DHCP knows', async () => {
    const contacts: string[] = []
    const listener = createBootListener({
      catalog: { current: () => makeCatalog() },
      bootService: createScriptedBootService(),
      renderer: plainRenderer,
      log: silentLog,
      clock: { now: () => 0 },
      onContact: (address) => void contacts.push(address),
    })
    const { port } = await listener.listen({ host: '::', port: 0 })
    const connection = await openRaw(port)
    for (let times = 0; times < 2; times++) {
      connection.send('GET /boot.ipxe HTTP/1.1\r\n\r\n')
      await connection.next()
    }
    connection.destroy()
    expect(contacts).toEqual(['127.0.0.1'])
    await listener.close()
  })

  test('closing takes nothing new, lets a transfer end within its grace, and may be asked twice', async () => {
    const { port, listener, image } = await start()
    const idle = await openRaw(port)
    const busy = await openRaw(port)
    busy.send(`GET /artifacts/${image.rootfs?.sha256}/x HTTP/1.1\r\n\r\n`)
    await once(busy.socket, 'data')
    busy.socket.pause()
    const closed = Promise.all([listener.close({ graceMs: 10_000 }), listener.close()])
    idle.destroy()
    expect(listener.address()).toBeUndefined()
    await expect(openRaw(port)).rejects.toThrow('ECONNREFUSED')
    busy.socket.resume()
    expect((await busy.next()).body.length).toBe(5_000_001)
    await busy.closed()
    await closed
  })

  test('without grace, transfers are cut', async () => {
    const { port, listener, addFile, events } = await start()
    const large = await addFile('large', 'rootfs', bytesOf('large', 30_000_000))
    const busy = await openRaw(port)
    busy.send(`GET /artifacts/${large.sha256}/x HTTP/1.1\r\n\r\n`)
    await once(busy.socket, 'data')
    busy.socket.pause()
    await listener.close()
    while (events.length < 2) await settled()
    expect(events).toMatchObject([{ reachedBytes: 0 }, { completed: false }])
    busy.destroy()
  })

  test('a listener that never listened closes at once', async () => {
    expect(await listenerOf().close()).toBeUndefined()
  })
})
