import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { readPxeClient } from '../../src/dhcp/pxe-client.ts'
import { fixture, packetOf, request } from '../dhcp/support.ts'
import { freeUdpPort } from '../fakes/free-port.ts'
import { nodeDhcp, nodeDhcpProtocol } from '../fakes/npm-peers.ts'
import { bindSocket } from '../fakes/tftp-client.ts'

/*
 * Why the TFTP and DHCP engines are our own: what the two packages of the registry do with the packets of real
 * machines. The README's decision refers to this file.
 */

const cleanUp: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

function version(name: string): string {
  const path = resolve(import.meta.dirname, `../../node_modules/${name}/package.json`)
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}

describe(`tftp2 ${version('tftp2')} as a server`, () => {
  /** In a process of its own, because it dies. */
  async function start(
    sizeBytes: number,
  ): Promise<{ child: ChildProcess; port: number; errors: () => string }> {
    const port = await freeUdpPort()
    const script = `
      const server = require('tftp2').createServer()
      server.on('get', (_, send) => send(Buffer.alloc(${sizeBytes}, 'x')))
      server.listen(${port}).then(() => console.log('ready'))`
    const child = spawn(process.execPath, ['-e', script], {
      cwd: resolve(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    cleanUp.push(() => child.kill('SIGKILL'))
    let errors = ''
    child.stderr.on('data', (text) => {
      errors += text
    })
    await once(child.stdout, 'data')
    return { child, port, errors: () => errors }
  }

  const readRequest = Buffer.from('\0\x01file\0octet\0blksize\x001468\0tsize\x000\0', 'latin1')

  it('ignores the options that every firmware asks for (RFC 2347)', async () => {
    const { port } = await start(2_000)
    const socket = await bindSocket()
    cleanUp.push(() => socket.close())
    socket.send(readRequest, port, '127.0.0.1')
    const [answer] = (await once(socket, 'message')) as [Buffer]
    expect([answer.readUInt16BE(0), answer.readUInt16BE(2), answer.length]).toEqual([3, 1, 4 + 512])
  })

  it('never sends a packet again, so one that is lost ends the boot', async () => {
    const { port } = await start(2_000)
    const socket = await bindSocket()
    cleanUp.push(() => socket.close())
    let packets = 0
    socket.on('message', () => {
      packets += 1
    })
    socket.send(readRequest, port, '127.0.0.1')
    await once(socket, 'message')
    // Firmware waits a second or less; nothing but time can show that nothing comes.
    await delay(3_000)
    expect(packets).toBe(1)
  })

  it('ends at 65,535 blocks of 512 bytes: a rootfs of any size does not fit', {
    timeout: 180_000,
  }, async () => {
    const sizeBytes = 65_536 * 512
    const { child, port, errors } = await start(sizeBytes)
    const socket = await bindSocket()
    cleanUp.push(() => socket.close())
    let received = 0
    const died = once(child, 'exit')
    socket.on('message', (packet, from) => {
      received += packet.length - 4
      socket.send(Buffer.of(0, 4, packet[2] ?? 0, packet[3] ?? 0), from.port, from.address)
    })
    socket.send(readRequest, port, '127.0.0.1')
    await died
    expect(received).toBe(65_535 * 512)
    expect(errors()).toContain('ERR_OUT_OF_RANGE')
  })

  it('dies from a datagram of one byte', async () => {
    const { child, port, errors } = await start(10)
    const socket = await bindSocket()
    cleanUp.push(() => socket.close())
    socket.send('x', port, '127.0.0.1')
    const [code] = await once(child, 'exit')
    expect(code).not.toBe(0)
    expect(errors()).toContain('ERR_BUFFER_OUT_OF_BOUNDS')
  })
})

describe(`dhcp ${version('dhcp')} (the package of the node-dhcp repository)`, () => {
  it('loses architecture, network interface and machine id (options 93, 94, 97)', () => {
    const discover = fixture('edk2-pxe-x64-discover')
    expect(readPxeClient(packetOf(discover)).client).toMatchObject({
      architectureCode: 7,
      uuid: expect.any(String),
    })
    const { options } = nodeDhcpProtocol.parse(Buffer.from(discover))
    expect(options).toMatchObject({ 53: 1, 60: expect.stringContaining('PXEClient') })
    for (const code of [93, 94, 97]) expect(options).not.toHaveProperty(String(code))
  })

  it('takes the byte after padding for more padding, and reads the rest wrong', () => {
    const padded = request({ options: '35 01 01 00 3c 01 41 ff' })
    expect(packetOf(padded).options.map(({ code }) => code)).toEqual([53, 60])
    expect(() => nodeDhcpProtocol.parse(Buffer.from(padded))).toThrow(RangeError)
  })

  it('knows neither relays nor a proxy: it broadcasts an address, whoever asks', () => {
    const server = nodeDhcp.createServer({
      range: ['192.0.2.50', '192.0.2.59'],
      netmask: '255.255.255.0',
      router: ['192.0.2.1'],
      dns: ['192.0.2.1'],
      broadcast: '192.0.2.255',
      server: '192.0.2.10',
    })
    const sent: { to: string; message: Buffer }[] = []
    Object.assign(server._sock, {
      send: (bytes: Buffer, offset: number, length: number, _port: number, to: string) =>
        sent.push({ to, message: Buffer.from(bytes.subarray(offset, offset + length)) }),
    })
    const relayed = request({ giaddr: '203.0.113.1', hops: 1, options: '35 01 01 ff' })
    server._sock.emit('message', Buffer.from(relayed))
    expect(sent.map(({ to }) => to)).toEqual(['192.0.2.255'])
    expect(sent.map(({ message }) => packetOf(message).yiaddr)).not.toEqual([0])
    server.close()
  })
})
