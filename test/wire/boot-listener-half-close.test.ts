import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BootRig, startBootRig } from '../fakes/boot-rig.ts'
import { openRaw } from '../fakes/raw-http.ts'
import { digestOf } from '../fakes/running-service.ts'

let rig: BootRig
let rootfs: string

beforeAll(async () => {
  rig = await startBootRig()
  rootfs = `/artifacts/${rig.image.rootfs?.sha256}/rootfs.img`
})
afterAll(() => rig.stop())

describe('a client that closes its half when it has asked (RFC 9112 §9.6)', () => {
  test.each(['1.0', '1.1'])(
    'gets the whole file by HTTP/%s, then the end of the connection',
    async (version) => {
      const connection = await openRaw(rig.port)
      connection.socket.end(`GET ${rootfs} HTTP/${version}\r\nHost: x\r\n\r\n`)
      const { status, body } = await connection.next()
      expect([status, digestOf(body)]).toEqual([200, rig.image.rootfs?.sha256])
      expect(await connection.closed()).toHaveLength(0)
    },
  )

  test('gets the answers to all that it asked before', async () => {
    const connection = await openRaw(rig.port)
    const request = `GET ${rootfs} HTTP/1.1\r\nHost: x\r\n\r\n`
    connection.socket.end(request + request + request)
    for (let count = 0; count < 3; count += 1) {
      expect(digestOf((await connection.next()).body)).toBe(rig.image.rootfs?.sha256)
    }
    expect(await connection.closed()).toHaveLength(0)
  })

  test('gets a script, and half a request is only closed', async () => {
    const whole = await openRaw(rig.port)
    whole.socket.end('GET /boot.ipxe HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await whole.next()).body.toString()).toContain('#!ipxe')
    expect(await whole.closed()).toHaveLength(0)
    const half = await openRaw(rig.port)
    half.socket.end('GET /boot.ipxe HTTP/1.1\r\nHo')
    expect((await half.closed()).toString()).toMatch(/^(?:HTTP\/1\.1 400 |$)/)
  })
})
