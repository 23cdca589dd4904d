import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatIpv4 } from '../../src/core/ipv4.ts'
import { loadDeviceSockets } from '../../src/dhcp/bind-to-device.ts'
import { headerFile } from '../../src/dhcp/packet.ts'
import { address4, fixture, hex, option, packetOf, request, textOf } from '../dhcp/support.ts'
import {
  createLab,
  hasCommand,
  type Lab,
  type LineProcess,
  labProblem,
  type Namespace,
} from './namespaces.ts'

const here = import.meta.dirname
const dist = resolve(here, '../../dist')
const problem = labProblem()
if (problem) console.log(`DHCP in network namespaces is not tried: ${problem}`)
const canBind = (await loadDeviceSockets()) !== undefined
if (!canBind) console.log('DHCP on several interfaces is not tried: koffi is not installed')
const missing = ['udhcpc', 'dhclient', 'dnsmasq'].filter((name) => !hasCommand(name))
if (missing.length > 0) console.log(`not installed, so not tried as strangers: ${missing.join(', ')}`)

let lab: Lab
let directory: string
beforeEach(() => {
  if (problem) return
  lab = createLab()
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-dhcp-'))
})
afterEach(async () => {
  if (problem) return
  await lab.stop()
  rmSync(directory, { recursive: true, force: true })
})

type Event = { readonly type: string } & Record<string, unknown>

interface RunningServer {
  readonly process: LineProcess
  /** Events until one of this type, that one included. */
  until(type: string): Promise<Event[]>
  stop(): Promise<Event>
}

function startServer(namespace: Namespace, options: object): RunningServer {
  const process = namespace.start(['node', join(here, 'dhcp-process.mjs'), dist, JSON.stringify(options)])
  async function until(type: string): Promise<Event[]> {
    const events: Event[] = []
    do events.push(JSON.parse(await process.line()))
    while (events.at(-1)?.type !== type)
    return events
  }
  return {
    process,
    until,
    async stop() {
      void process.stop()
      return (await until('stopped')).at(-1) as Event
    },
  }
}

interface Reply {
  readonly from: string
  readonly type: number | undefined
  readonly xid: number
  readonly yiaddr: string
  readonly siaddr: string
  readonly serverId: string
  readonly file: string
}

interface RawClient {
  send(bytes: Uint8Array, to?: string, port?: number): void
  next(): Promise<Reply>
}

async function startClient(namespace: Namespace): Promise<RawClient> {
  const process = namespace.start(['node', join(here, 'dhcp-client.mjs')])
  await process.line()
  return {
    send: (bytes, to = '255.255.255.255', port = 67) =>
      process.write(`${Buffer.from(bytes).toString('hex')} ${to} ${port}`),
    async next() {
      const [address, port, text = ''] = (await process.line()).split(' ')
      const packet = packetOf(hex(text))
      const serverId = packet.options.find(({ code }) => code === 54)?.data ?? hex('')
      return {
        from: `${address}:${port}`,
        type: packet.messageType,
        xid: packet.xid,
        yiaddr: formatIpv4(packet.yiaddr),
        siaddr: formatIpv4(packet.siaddr),
        serverId: serverId.join('.'),
        file: textOf(headerFile(packet)),
      }
    },
  }
}

/** A client's end of a cable: an address so that it can send, and a way to everywhere. */
function addressed(namespace: Namespace, device: string, address: string): void {
  namespace.run('ip', 'addr', 'add', address, 'dev', device)
  namespace.run('ip', 'route', 'add', 'default', 'dev', device)
}

const discover = (xid: number) =>
  request({ xid, options: `${option(53, 1)} ${option(60, 'PXEClient')} 5d 02 00 07 ff` })

describe.skipIf(problem !== undefined || !canBind)('a server with several interfaces (case 35)', () => {
  it('answers on the wire that asked, with that wire’s address, and not on a third', async () => {
    const [server, clientA, clientB, clientC] = ['s', 'a', 'b', 'c'].map((name) => lab.namespace(name)) as [
      Namespace,
      Namespace,
      Namespace,
      Namespace,
    ]
    const wires = [
      ['eth0', clientA, '192.0.2'],
      ['eth1', clientB, '198.51.100'],
      ['eth2', clientC, '203.0.113'],
    ] as const
    for (const [device, client, net] of wires) {
      lab.cable(server, device, client, 'eth0')
      server.run('ip', 'addr', 'add', `${net}.10/24`, 'dev', device)
      addressed(client, 'eth0', `${net}.99/24`)
    }
    // The way out by default is the wire that nobody asks on.
    server.run('ip', 'route', 'add', 'default', 'dev', 'eth2')
    const service = startServer(server, { mode: 'proxy', interfaces: ['eth0', 'eth1'] })
    await service.until('started')
    const a = await startClient(clientA)
    const b = await startClient(clientB)
    const c = await startClient(clientC)

    c.send(discover(0xc1))
    b.send(discover(0xb1))
    expect(await b.next()).toMatchObject({
      xid: 0xb1,
      from: '198.51.100.10:67',
      siaddr: '198.51.100.10',
      serverId: '198.51.100.10',
    })
    // The first thing that A ever hears is the answer to its own question.
    a.send(discover(0xa1))
    expect(await a.next()).toMatchObject({
      xid: 0xa1,
      from: '192.0.2.10:67',
      siaddr: '192.0.2.10',
      serverId: '192.0.2.10',
    })
    b.send(fixture('edk2-http-x64-discover'))
    expect(await b.next()).toMatchObject({ file: 'http://198.51.100.10:8080/loaders/snponly.efi' })
    b.send(fixture('edk2-pxe-x64-4011'), '198.51.100.10', 4011)
    expect(await b.next()).toMatchObject({ type: 5, from: '198.51.100.10:4011' })
    expect(await service.stop()).toMatchObject({
      counts: { replies: { offer: 3, acknowledge: 1, refuse: 0 } },
    })
  })

  it('answers with the address that was asked when the interface has two (case 50)', async () => {
    const [server, client] = ['s', 'c'].map((name) => lab.namespace(name)) as [Namespace, Namespace]
    lab.cable(server, 'eth0', client, 'eth0')
    for (const address of ['192.0.2.9/24', '192.0.2.10/24'])
      server.run('ip', 'addr', 'add', address, 'dev', 'eth0')
    addressed(client, 'eth0', '192.0.2.55/24')
    const service = startServer(server, {
      mode: 'proxy',
      interfaces: ['eth0'],
      preferredAddress: '192.0.2.10',
    })
    await service.until('started')
    const raw = await startClient(client)
    raw.send(fixture('edk2-pxe-x64-4011'), '192.0.2.10', 4011)
    expect(await raw.next()).toMatchObject({ type: 5, from: '192.0.2.10:4011', siaddr: '192.0.2.10' })
    await service.stop()
  })

  it('waits for an interface that is not there yet, and is ready within five seconds of its address', async () => {
    const [server, client] = ['s', 'c'].map((name) => lab.namespace(name)) as [Namespace, Namespace]
    const service = startServer(server, { mode: 'proxy', interfaces: ['eth0'] })
    expect((await service.until('started')).map(({ type }) => type)).toEqual([
      'interface-not-ready',
      'started',
    ])
    lab.cable(server, 'eth0', client, 'eth0')
    addressed(client, 'eth0', '192.0.2.55/24')
    const raw = await startClient(client)
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    const appearedAt = Date.now()
    const ready = (await service.until('interface-ready')).at(-1)
    expect(ready).toMatchObject({ interface: 'eth0', address: '192.0.2.10' })
    expect(Number(ready?.at) - appearedAt).toBeLessThan(5000)
    raw.send(discover(1))
    expect(await raw.next()).toMatchObject({ xid: 1, from: '192.0.2.10:67' })
    await service.stop()
  })
})

describe.skipIf(problem !== undefined)('a server with one interface and no koffi', () => {
  it('answers by that interface, though the way out by default is another', async () => {
    const [server, client, other] = ['s', 'c', 'o'].map((name) => lab.namespace(name)) as [
      Namespace,
      Namespace,
      Namespace,
    ]
    lab.cable(server, 'eth0', client, 'eth0')
    lab.cable(server, 'eth1', other, 'eth0')
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    server.run('ip', 'addr', 'add', '203.0.113.10/24', 'dev', 'eth1')
    server.run('ip', 'route', 'add', 'default', 'dev', 'eth1')
    addressed(client, 'eth0', '192.0.2.55/24')
    const service = startServer(server, { mode: 'proxy', interfaces: ['eth0'], withoutDevices: true })
    await service.until('started')
    const raw = await startClient(client)
    raw.send(discover(1))
    expect(await raw.next()).toMatchObject({ xid: 1, from: '192.0.2.10:67' })
    raw.send(fixture('edk2-pxe-x64-4011'), '192.0.2.10', 4011)
    expect(await raw.next()).toMatchObject({ type: 5, from: '192.0.2.10:4011' })
    await service.stop()
  })

  it('refuses to start beside another DHCP server on this host, and says so', async ({ skip }) => {
    if (missing.includes('dnsmasq')) skip('dnsmasq is not installed')
    const [server, client] = ['s', 'c'].map((name) => lab.namespace(name)) as [Namespace, Namespace]
    lab.cable(server, 'eth0', client, 'eth0')
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    const dnsmasq = server.start([
      'dnsmasq',
      '--conf-file=/dev/null',
      '--keep-in-foreground',
      '--port=0',
      '--user=root',
      '--log-facility=-',
      `--pid-file=${directory}/pid`,
      `--dhcp-leasefile=${directory}/site`,
      '--dhcp-range=192.0.2.50,192.0.2.60',
      '--interface=eth0',
      '--bind-interfaces',
    ])
    while (!/DHCP, IP range/.test(dnsmasq.errors())) await new Promise((done) => setImmediate(done))
    for (const withoutDevices of [true, false]) {
      const service = startServer(server, { mode: 'proxy', interfaces: ['eth0'], withoutDevices })
      const failed = (await service.until('failed')).at(-1)
      expect(failed).toMatchObject({
        code: 'LISTEN_FAILED',
        message: expect.stringContaining('UDP port 67 on eth0: another program has it'),
      })
    }
  })
})

describe.skipIf(problem !== undefined)('sockets of a service manager', () => {
  it('are used by their name, and each answers on its own wire', async () => {
    const [server, clientA, clientB] = ['s', 'a', 'b'].map((name) => lab.namespace(name)) as [
      Namespace,
      Namespace,
      Namespace,
    ]
    for (const [device, client, net] of [
      ['eth0', clientA, '192.0.2'],
      ['eth1', clientB, '198.51.100'],
    ] as const) {
      lab.cable(server, device, client, 'eth0')
      server.run('ip', 'addr', 'add', `${net}.10/24`, 'dev', device)
      addressed(client, 'eth0', `${net}.99/24`)
    }
    const options = JSON.stringify({ mode: 'proxy', withoutDevices: true })
    const service = server.start([
      'python3',
      join(here, 'socket-activation.py'),
      ...['eth0:67', 'eth0:4011', 'eth1:67', 'eth1:4011'],
      '--',
      ...['node', join(here, 'dhcp-process.mjs'), dist, options],
    ])
    const lines = [await service.line(), await service.line(), await service.line()].map((line) =>
      JSON.parse(line),
    )
    expect(lines.at(-1)).toMatchObject({
      type: 'started',
      wires: [
        { interface: 'eth0', isReady: true },
        { interface: 'eth1', isReady: true },
      ],
    })
    const a = await startClient(clientA)
    const b = await startClient(clientB)
    b.send(discover(0xb1))
    expect(await b.next()).toMatchObject({ xid: 0xb1, from: '198.51.100.10:67', siaddr: '198.51.100.10' })
    a.send(discover(0xa1))
    expect(await a.next()).toMatchObject({ xid: 0xa1, from: '192.0.2.10:67', siaddr: '192.0.2.10' })
    a.send(fixture('edk2-pxe-x64-4011'), '192.0.2.10', 4011)
    expect(await a.next()).toMatchObject({ type: 5, from: '192.0.2.10:4011' })
    await service.stop()
  })
})

const subnets = [
  {
    subnet: '192.0.2.0/24',
    ranges: [['192.0.2.50', '192.0.2.60']],
    routers: ['192.0.2.1'],
    dnsServers: ['192.0.2.1'],
  },
  { subnet: '203.0.113.0/24', ranges: [['203.0.113.50', '203.0.113.60']], routers: ['203.0.113.1'] },
]

/** What is left of a lease depends on the time that the test took. */
function withoutLease(line: string): string {
  return line.replace(/lease=\d+/, '')
}

describe.skipIf(problem !== undefined)('strangers that want an address', () => {
  function oneWire(): readonly [Namespace, Namespace] {
    const [server, client] = ['s', 'c'].map((name) => lab.namespace(name)) as [Namespace, Namespace]
    lab.cable(server, 'eth0', client, 'eth0')
    server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    return [server, client]
  }

  it.skipIf(missing.includes('udhcpc'))(
    'busybox udhcpc gets one, asks again after a restart of the service, and gives it back',
    async () => {
      const [server, client] = oneWire()
      const options = { mode: 'server', interfaces: ['eth0'], subnets, leases: join(directory, 'leases') }
      const udhcpc = (...more: readonly string[]) =>
        client.start(['udhcpc', '-i', 'eth0', '-f', '-n', '-s', join(here, 'udhcpc-script'), ...more])
      let service = startServer(server, options)
      await service.until('started')
      const first = await udhcpc('-q').line()
      expect(first).toMatch(
        /^udhcpc bound ip=192\.0\.2\.\d+ mask=24 router=192\.0\.2\.1 dns=192\.0\.2\.1 server=192\.0\.2\.10 lease=3600/,
      )
      await service.stop()

      service = startServer(server, options)
      await service.until('started')
      // -R: a RELEASE at the end.
      const again = udhcpc('-R')
      expect(withoutLease(await again.line())).toBe(withoutLease(first))
      await again.stop('SIGTERM')
      const released = (await service.until('released')).at(-1)
      expect(first).toContain(`ip=${released?.address} `)
      await service.stop()
    },
  )

  it.skipIf(missing.includes('dhclient'))(
    'ISC dhclient gets one, and the same after a reboot (INIT-REBOOT)',
    async () => {
      const [server, client] = oneWire()
      const service = startServer(server, {
        mode: 'server',
        interfaces: ['eth0'],
        subnets,
        leases: join(directory, 'leases'),
      })
      await service.until('started')
      const dhclient = () =>
        client.start([
          'dhclient',
          '-d',
          '-1',
          '-sf',
          join(here, 'udhcpc-script'),
          '-lf',
          join(directory, 'client.leases'),
          '-pf',
          join(directory, 'pid'),
          '-cf',
          '/dev/null',
          'eth0',
        ])
      const first = dhclient()
      const bound = await first.line()
      expect(bound).toMatch(
        /^dhclient BOUND ip=192\.0\.2\.\d+ mask=255\.255\.255\.0 router=192\.0\.2\.1 server=192\.0\.2\.10 lease=3600$/,
      )
      while (!/bound to/.test(first.errors())) await new Promise((done) => setImmediate(done))
      await first.stop('SIGKILL')
      const second = dhclient()
      expect(withoutLease(await second.line())).toBe(withoutLease(bound.replace('BOUND', 'REBOOT')))
      await second.stop('SIGKILL')
      await service.stop()
    },
  )

  it.skipIf(missing.includes('udhcpc') || missing.includes('dnsmasq'))(
    'udhcpc behind dnsmasq as a relay gets one of its own subnet',
    async () => {
      const [server, relay, client] = ['s', 'r', 'c'].map((name) => lab.namespace(name)) as [
        Namespace,
        Namespace,
        Namespace,
      ]
      lab.cable(server, 'eth0', relay, 'eth0')
      lab.cable(relay, 'eth1', client, 'eth0')
      server.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
      relay.run('ip', 'addr', 'add', '192.0.2.77/24', 'dev', 'eth0')
      relay.run('ip', 'addr', 'add', '203.0.113.1/24', 'dev', 'eth1')
      server.run('ip', 'route', 'add', '203.0.113.0/24', 'via', '192.0.2.77')
      const service = startServer(server, {
        mode: 'server',
        interfaces: ['eth0'],
        subnets,
        leases: join(directory, 'leases'),
      })
      await service.until('started')
      const dnsmasq = relay.start([
        'dnsmasq',
        '--conf-file=/dev/null',
        '--keep-in-foreground',
        '--port=0',
        '--user=root',
        '--log-facility=-',
        `--pid-file=${directory}/pid`,
        '--dhcp-relay=203.0.113.1,192.0.2.10',
      ])
      while (!/DHCP relay from/.test(dnsmasq.errors())) await new Promise((done) => setImmediate(done))
      const udhcpc = client.start([
        'udhcpc',
        '-i',
        'eth0',
        '-f',
        '-n',
        '-q',
        '-s',
        join(here, 'udhcpc-script'),
      ])
      expect(await udhcpc.line()).toMatch(/^udhcpc bound ip=203\.0\.113\.\d+ mask=24 router=203\.0\.113\.1 /)
      expect(await service.stop()).toMatchObject({ counts: { replies: { refuse: 0 } } })
    },
  )

  it('a machine that renews hears from us at its address, and a foreign address is refused', async () => {
    const [server, client] = oneWire()
    const service = startServer(server, {
      mode: 'server',
      interfaces: ['eth0'],
      subnets,
      leases: join(directory, 'leases'),
    })
    await service.until('started')
    addressed(client, 'eth0', '192.0.2.55/24')
    const raw = await startClient(client)
    raw.send(request({ xid: 1, options: `${option(53, 1)} ${address4(50, '192.0.2.55')} ff` }))
    expect(await raw.next()).toMatchObject({ type: 2, yiaddr: '192.0.2.55' })
    raw.send(
      request({
        xid: 2,
        options: `${option(53, 3)} ${address4(50, '192.0.2.55')} ${address4(54, '192.0.2.10')} ff`,
      }),
    )
    expect(await raw.next()).toMatchObject({ type: 5, yiaddr: '192.0.2.55' })
    raw.send(request({ xid: 3, options: '35 01 03 ff', ciaddr: '192.0.2.55' }), '192.0.2.10')
    expect(await raw.next()).toMatchObject({ type: 5, xid: 3, from: '192.0.2.10:67' })
    raw.send(request({ xid: 4, options: `${option(53, 3)} ${address4(50, '10.0.0.5')} ff` }))
    expect(await raw.next()).toMatchObject({ type: 6, xid: 4 })
    await service.stop()
  })
})
