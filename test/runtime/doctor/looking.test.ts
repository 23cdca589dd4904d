import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lookAtAddresses } from '../../../src/runtime/doctor/look-at-addresses.ts'
import { lookAtRights, parseProcessStatus } from '../../../src/runtime/doctor/look-at-rights.ts'
import { lookAtDataDirectory, lookAtDisk } from '../../../src/runtime/doctor/look-at-storage.ts'
import { isInTheWay, parseSocketTable } from '../../../src/runtime/doctor/open-sockets-table.ts'
import { lookAtSocketHolders } from '../../../src/runtime/doctor/socket-holders.ts'
import { tryPort } from '../../../src/runtime/doctor/try-port.ts'
import { bindSocket } from '../../fakes/tftp-client.ts'

const cleanUp: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo()
})

const udpTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  532: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 0
  546: 00000000:0043 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 0
  547: 0A0200C0:9C40 010200C0:0035 01 00000000:00000000 00:00000000 00000000     0        0 4713 2 0000000000000000 0
`
const tcp6Table = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4714 1 0000000000000000 100 0 0 10 0
   1: 0000000000000000FFFF00000A0200C0:0050 0000000000000000FFFF0000370200C0:C350 01 00000000:00000000 00:00000000 00000000     0        0 4715 1 0000000000000000 20 4 30 10 -1
   2: B80D0120000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4716 1 0000000000000000 20 4 30 10 -1
   3: 0000000000000000FFFF00000A0200C0:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4717 1 0000000000000000 20 4 30 10 -1
`

describe('the tables of open sockets', () => {
  it('name those that wait for peers', () => {
    expect(parseSocketTable(udpTable, 'udp', true)).toEqual([
      { protocol: 'udp', address: '127.0.0.1', port: 53, inode: '4711' },
      { protocol: 'udp', address: '0.0.0.0', port: 67, inode: '4712' },
    ])
    expect(parseSocketTable(tcp6Table, 'tcp', true).map(({ address, port }) => `${address} ${port}`)).toEqual(
      [':: 80', '2001:db8:0:0:0:0:0:1 80', '192.0.2.10 8080'],
    )
  })

  it('are read in the byte order of the machine', () => {
    const line = udpTable.replace('0100007F', '7F000001')
    expect(parseSocketTable(line, 'udp', false)[0]?.address).toBe('127.0.0.1')
  })

  it.each(['', 'nonsense', 'a\nb c d e f g h i j k', 'x\n 0: ZZ:00 00:0000 0A 0 0 0 0 0 1'])(
    '%j holds none',
    (text) => {
      expect(parseSocketTable(text, 'tcp')).toEqual([])
    },
  )

  it('tell who is in the way of whom', () => {
    expect(isInTheWay('0.0.0.0', '192.0.2.10')).toBe(true)
    expect(isInTheWay('192.0.2.10', undefined)).toBe(true)
    expect(isInTheWay('192.0.2.10', '192.0.2.11')).toBe(false)
  })
})

describe('ports of this machine', () => {
  it('that are open are seen with the process that has them, which is this one', async () => {
    const socket = await bindSocket()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanUp.push(
      () => socket.close(),
      () => server.close(),
    )
    const tcpPort = (server.address() as { port: number }).port
    const holders = lookAtSocketHolders()
    const us = expect.objectContaining({ pid: process.pid })
    expect(holders.of({ protocol: 'udp', port: socket.address().port })).toEqual([us])
    expect(holders.of({ protocol: 'tcp', host: '0.0.0.0', port: tcpPort })).toEqual([us])
    expect(holders.of({ protocol: 'tcp', host: '127.0.0.2', port: tcpPort })).toEqual([])
    expect(holders.of({ protocol: 'udp', port: 1 })).toEqual([])
  })

  it('of UDP are free or taken, and are free again after they were tried', async () => {
    const socket = await bindSocket()
    const { port } = socket.address()
    expect(await tryPort({ protocol: 'udp', host: '127.0.0.1', port }, undefined)).toBe('taken')
    await new Promise<void>((resolve) => socket.close(() => resolve()))
    for (let time = 0; time < 2; time += 1)
      expect(await tryPort({ protocol: 'udp', host: '127.0.0.1', port }, undefined)).toBe('free')
  })

  it('of TCP are free or taken, and are free again after they were tried', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await tryPort({ protocol: 'tcp', host: '127.0.0.1', port }, undefined)).toBe('taken')
    await new Promise<void>((resolve) => server.close(() => resolve()))
    for (let time = 0; time < 2; time += 1)
      expect(await tryPort({ protocol: 'tcp', host: '127.0.0.1', port }, undefined)).toBe('free')
  })

  it('at an address of another machine cannot be had', async () => {
    expect(await tryPort({ protocol: 'udp', host: '192.0.2.99', port: 0 }, undefined)).toBe('no-address')
    expect(await tryPort({ protocol: 'tcp', host: '192.0.2.99', port: 0 }, undefined)).toBe('no-address')
  })

  it.each([
    ['ENODEV', 'no-interface'],
    ['EPERM', 'denied'],
    ['EADDRINUSE', 'taken'],
    ['ENFILE', 'not-tried'],
  ])('on an interface are tried on that interface: %s', async (code, outcome) => {
    const open = () => {
      throw Object.assign(new Error(code), { code })
    }
    expect(await tryPort({ protocol: 'udp', port: 67, interface: 'eth9' }, { open })).toBe(outcome)
  })
})

describe('rights', () => {
  it('are read from the status of a process', () => {
    const status =
      'Name:\tnode\nUid:\t990\t991\t990\t990\nCapPrm:\t0000000000000400\nCapEff:\t0000000000200400\n'
    expect(parseProcessStatus(status)).toEqual({ uid: 991, capabilities: ['NET_BIND_SERVICE', 'SYS_ADMIN'] })
    expect(parseProcessStatus('Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n')?.capabilities).toHaveLength(41)
    expect(parseProcessStatus('nothing')).toBeUndefined()
  })

  it('of this process and of a service are looked at', () => {
    const facts = lookAtRights(process.pid, true)
    expect(facts.service?.uid).toBe(process.getuid?.())
    expect(facts.firstOpenPort).toBeGreaterThanOrEqual(0)
    expect(lookAtRights(2 ** 22 + 1, true).service).toBeUndefined()
  })
})

describe('interfaces', () => {
  it('are looked at by name', () => {
    const { interfaces, ownAddresses } = lookAtAddresses(['lo', 'no-such-one'])
    expect(interfaces).toMatchObject([
      { name: 'lo', exists: true, isUp: true, addresses: ['127.0.0.1'] },
      { name: 'no-such-one', exists: false, isUp: false, addresses: [] },
    ])
    expect(ownAddresses).toContain('127.0.0.1')
  })
})

describe('storage', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pilotlight-doctor-'))
    cleanUp.push(() => rm(directory, { recursive: true, force: true }))
  })

  it('is looked at, and nothing is made', async () => {
    const path = join(directory, 'below/data')
    expect(lookAtDataDirectory(path)).toMatchObject({ kind: 'absent', isWritable: true })
    expect((await lookAtDisk(path))?.freeBytes).toBeGreaterThan(0)
    await mkdir(path, { recursive: true, mode: 0o700 })
    expect(lookAtDataDirectory(path)).toMatchObject({ kind: 'directory', mode: 0o700, isWritable: true })
    await chmod(path, 0o755)
    expect(lookAtDataDirectory(path)).toMatchObject({ mode: 0o755 })
    await writeFile(join(directory, 'file'), '')
    expect(lookAtDataDirectory(join(directory, 'file'))).toMatchObject({ kind: 'other' })
  })
})
