import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fakes/service-process.ts'
import { installedPrograms, tftpPrograms } from '../fakes/tftp-programs.ts'
import { createLab, hasCommand, type Lab, labProblem, type Namespace } from './namespaces.ts'
import { bootStep, digestOf, startLabService, wireUp } from './service-lab.ts'

const here = import.meta.dirname
const problem = labProblem()
if (problem) console.log(`strangers at the service in networks of their own are not tried: ${problem}`)
const wanted = ['busybox', 'udhcpc', 'dhclient', 'dnsmasq', 'perfdhcp']
const missing = wanted.filter((name) => !hasCommand(name))
if (missing.length > 0) console.log(`not installed, so not tried at the service: ${missing.join(', ')}`)
const lacks = (...names: readonly string[]) => names.some((name) => missing.includes(name))
const programs = tftpPrograms.filter(({ netascii }) => netascii !== true)
const tftpHere = installedPrograms(
  programs.map((each) => each.program),
  'a TFTP client over a network',
)

let lab: Lab
let directory: string
beforeEach(() => {
  if (problem) return
  lab = createLab()
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-peers-'))
})
afterEach(async () => {
  if (problem) return
  await lab.stop()
  rmSync(directory, { recursive: true, force: true })
})

const addressServer = {
  dhcp: {
    mode: 'server',
    interface: 'eth0',
    subnets: [
      {
        subnet: '192.0.2.0/24',
        ranges: ['192.0.2.100-192.0.2.199'],
        routers: ['192.0.2.1'],
        dns: ['192.0.2.1'],
        leaseTime: '1h',
      },
      { subnet: '203.0.113.0/24', ranges: ['203.0.113.50-203.0.113.59'], routers: ['203.0.113.1'] },
    ],
  },
}
const proxy = { dhcp: { mode: 'proxy', interface: 'eth0' } }

const address = (machine: Namespace, text: string, device = 'eth0') =>
  machine.run('ip', 'addr', 'add', text, 'dev', device)

/** What udhcpc learned, as a table. */
function udhcpc(machine: Namespace, ...more: readonly string[]): Readonly<Record<string, string>> {
  const script = join(here, 'udhcpc-script')
  const words = ['udhcpc', '-i', 'eth0', '-f', '-q', '-n', '-t', '5', '-s', script, ...more]
  const said = machine.run('sh', '-c', '"$@" 2>/dev/null', 'sh', ...words)
  return Object.fromEntries(
    said
      .trim()
      .split(' ')
      .slice(2)
      .map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]),
  )
}

/** Options of UEFI for x64, as udhcpc is told to send them. */
const asFirmware = ['-V', 'PXEClient:Arch:00007:UNDI:003000', '-x', '93:0007']
const asIpxe = [...asFirmware, '-x', `77:${Buffer.from('iPXE').toString('hex')}`]

function startDnsmasq(machine: Namespace, ...more: readonly string[]) {
  return machine.start([
    ...['dnsmasq', '--conf-file=/dev/null', '--keep-in-foreground', '--port=0', '--user=root', '--log-dhcp'],
    ...[
      '--log-facility=-',
      `--pid-file=${directory}/dnsmasq.pid`,
      `--dhcp-leasefile=${directory}/dnsmasq.leases`,
    ],
    ...more,
  ])
}

async function until(process: { errors(): string }, words: RegExp): Promise<void> {
  await eventually(
    async () => process.errors(),
    (said) => words.test(said),
  )
}

describe.skipIf(problem !== undefined)('strangers at the built service, which is the DHCP server', () => {
  async function serve() {
    const [server, client] = wireUp(lab, 's', 'c') as [Namespace, Namespace]
    address(server, '192.0.2.10/24')
    return { server, client, service: await startLabService(server, { directory, boot: addressServer }) }
  }

  it.skipIf(lacks('udhcpc'))('udhcpc gets what the configuration says, and nothing to boot', async () => {
    const { client } = await serve()
    expect(udhcpc(client)).toMatchObject({
      ip: expect.stringMatching(/^192\.0\.2\.1\d\d$/),
      mask: '24',
      router: '192.0.2.1',
      dns: '192.0.2.1',
      server: '192.0.2.10',
      lease: '3600',
      boot_file: '',
    })
  })

  it.skipIf(lacks('udhcpc', 'busybox'))(
    'a boot by strangers alone: udhcpc as firmware, busybox tftp, udhcpc as iPXE, busybox wget',
    async () => {
      const { client, service } = await serve()
      const firmware = udhcpc(client, ...asFirmware)
      expect(firmware).toMatchObject({ boot_file: 'snponly.efi', siaddr: '192.0.2.10' })
      const file = join(directory, 'fetched')
      client.run('busybox', 'tftp', '-g', '-r', 'snponly.efi', '-l', file, '192.0.2.10')
      expect(digestOf(readFileSync(file))).toBe(service.loader.sha256)

      const ipxe = udhcpc(client, ...asIpxe)
      expect(ipxe).toMatchObject({ boot_file: 'http://192.0.2.10/boot.ipxe', ip: firmware.ip })
      const script = client.run('busybox', 'wget', '-q', '-O', '-', 'http://192.0.2.10/boot.ipxe')
      expect(script).toMatch(/^#!ipxe\n/)
      expect(script).toContain('http://192.0.2.10/ipxe?')
    },
  )

  it.skipIf(lacks('dhclient'))('ISC dhclient as firmware gets address, file and server', async () => {
    const { client } = await serve()
    const conf = join(directory, 'dhclient.conf')
    writeFileSync(
      conf,
      `option arch code 93 = unsigned integer 16;
send vendor-class-identifier "PXEClient:Arch:00007:UNDI:003000";
send arch 7;
request subnet-mask, routers, tftp-server-name, bootfile-name;
`,
    )
    const leases = join(directory, 'dhclient.leases')
    const words = ['dhclient', '-d', '-1', '-sf', join(here, 'udhcpc-script'), '-lf', leases]
    const dhclient = client.start([...words, '-pf', join(directory, 'pid'), '-cf', conf, 'eth0'])
    expect(await dhclient.line()).toMatch(
      /^dhclient BOUND ip=192\.0\.2\.1\d\d mask=255\.255\.255\.0 router=192\.0\.2\.1 server=192\.0\.2\.10 lease=3600$/,
    )
    await until(dhclient, /bound to/)
    await dhclient.stop('SIGKILL')
    const lease = readFileSync(leases, 'utf8')
    expect(lease).toContain('filename "snponly.efi";')
    expect(lease).toContain('option tftp-server-name "192.0.2.10";')
  })

  it.skipIf(lacks('perfdhcp'))('perfdhcp, which asks as a relay, loses none of 400 exchanges', async () => {
    const { client } = await serve()
    address(client, '192.0.2.20/24')
    const said = client.run(
      ...[
        'perfdhcp',
        '-4',
        '-r',
        '200',
        '-R',
        '50',
        '-n',
        '400',
        '-W',
        '500000',
        '-l',
        '192.0.2.20',
        '192.0.2.10',
      ],
    )
    for (const exchange of ['DISCOVER-OFFER', 'REQUEST-ACK']) {
      const part = said.slice(said.indexOf(`***Statistics for: ${exchange}***`))
      const number = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(part)?.[1])
      expect([exchange, number('sent packets'), number('received packets'), number('drops')]).toEqual([
        exchange,
        number('sent packets'),
        number('sent packets'),
        0,
      ])
      expect(number('sent packets')).toBeGreaterThanOrEqual(400)
    }
  })

  it.skipIf(lacks('udhcpc', 'busybox', 'dnsmasq'))(
    'behind dnsmasq as a relay: an address of its own subnet, and the right bytes over the router',
    async () => {
      const [server, relay] = wireUp(lab, 's', 'r') as [Namespace, Namespace]
      const client = lab.namespace('c')
      lab.cable(relay, 'eth1', client, 'eth0')
      address(server, '192.0.2.10/24')
      address(relay, '192.0.2.77/24')
      address(relay, '203.0.113.1/24', 'eth1')
      relay.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')
      server.run('ip', 'route', 'add', '203.0.113.0/24', 'via', '192.0.2.77')
      const service = await startLabService(server, { directory, boot: addressServer })
      await until(startDnsmasq(relay, '--dhcp-relay=203.0.113.1,192.0.2.10'), /DHCP relay from/)

      const firmware = udhcpc(client, ...asFirmware)
      expect(firmware).toMatchObject({
        ip: expect.stringMatching(/^203\.0\.113\.5\d$/),
        router: '203.0.113.1',
        boot_file: 'snponly.efi',
        siaddr: '192.0.2.10',
      })
      client.run('ip', 'route', 'add', 'default', 'via', '203.0.113.1')
      const file = join(directory, 'fetched')
      client.run('busybox', 'tftp', '-g', '-r', 'snponly.efi', '-l', file, '192.0.2.10')
      expect(digestOf(readFileSync(file))).toBe(service.loader.sha256)
    },
  )
})

describe.skipIf(problem !== undefined)('the built service as a proxy', () => {
  const withSite = async (...more: readonly string[]) => {
    const [server, site, client] = wireUp(lab, 's', 'd', 'c') as [Namespace, Namespace, Namespace]
    address(server, '192.0.2.10/24')
    address(site, '192.0.2.1/24')
    const range = '--dhcp-range=192.0.2.100,192.0.2.199,255.255.255.0,1h'
    await until(startDnsmasq(site, range, '--dhcp-authoritative', ...more), /sockets bound|DHCP, IP range/)
    return { server, site, client, service: await startLabService(server, { directory, boot: proxy }) }
  }

  it.skipIf(lacks('udhcpc', 'dnsmasq'))(
    'leaves addresses to dnsmasq, and boots what dnsmasq does not',
    async () => {
      const { client, service } = await withSite()
      expect(udhcpc(client)).toMatchObject({ server: '192.0.2.1', boot_file: '' })

      const discover = { do: 'discover', device: 'eth0', forMs: 5_000 }
      const offers = bootStep<readonly { server: string; address?: string; bootFile?: string }[]>(
        client,
        discover,
      )
      expect(offers).toHaveLength(2)
      const ours = offers.find(({ server: from }) => from === '192.0.2.10')
      expect(ours).toMatchObject({ bootFile: 'snponly.efi', nextServer: '192.0.2.10' })
      expect(ours).not.toHaveProperty('address')
      expect(offers.find(({ server: from }) => from === '192.0.2.1')?.address).toMatch(/^192\.0\.2\.1\d\d$/)
      expect(bootStep(client, { do: 'tftp', address: '192.0.2.10', name: 'snponly.efi' })).toMatchObject({
        kind: 'fetched',
        sha256: service.loader.sha256,
      })
    },
  )

  it.skipIf(lacks('dnsmasq'))(
    'the doctor finds dnsmasq on the wire, and our own answers, all fetched',
    async () => {
      const { service } = await withSite()
      const { stdout } = service.pilotlight('doctor')
      expect(stdout).toMatch(/dhcp +ok +eth0: 192\.0\.2\.1 offers address 192\.0\.2\.1\d\d and no boot file/)
      expect(stdout).toMatch(/dhcp +ok +eth0: the service offers snponly\.efi to UEFI x64/)
      expect(stdout).toMatch(
        /fetch +ok +TFTP 192\.0\.2\.10: .*snponly\.efi.*answered from where it was asked/,
      )
      expect(stdout).toMatch(/fetch +ok +HTTP 192\.0\.2\.10: .*http:\/\/192\.0\.2\.10\/loaders\/snponly\.efi/)
      expect(stdout).toMatch(/ports +ok +UDP 67 on eth0 \(DHCP\): ours/)
      // Tests run as root and follow no stream; nothing else is wrong here.
      expect(stdout).toMatch(/rights +warning +the service runs as root/)
      expect(stdout).toMatch(/upstream +problem +no stream is followed/)
      expect(stdout).toMatch(/^1 problem, 1 warning/m)
    },
  )

  it.skipIf(lacks('dnsmasq'))(
    'the doctor warns of a site that hands out a boot file of its own',
    async () => {
      const { service } = await withSite('--dhcp-boot=pxelinux.0,,192.0.2.1')
      const { stdout } = service.pilotlight('doctor')
      expect(stdout).toMatch(
        /dhcp +warning +eth0: 192\.0\.2\.1 offers address \S+ and boot file pxelinux\.0 from 192\.0\.2\.1/,
      )
    },
  )

  it('the doctor finds nobody who gives addresses, which a proxy needs', async () => {
    const [server] = wireUp(lab, 's') as [Namespace]
    address(server, '192.0.2.10/24')
    const service = await startLabService(server, { directory, boot: proxy })
    const { status, stdout } = service.pilotlight('doctor')
    expect(status).toBe(1)
    expect(stdout).toMatch(/dhcp +problem +eth0: nobody offered an address/)
  })
})

describe.skipIf(problem !== undefined)('TFTP over a network', () => {
  it.skipIf(tftpHere.size === 0)(
    'tftp-hpa, atftp, curl and busybox get the right bytes from port 69, as far as they are installed',
    async () => {
      const [server, client] = wireUp(lab, 's', 'c') as [Namespace, Namespace]
      address(server, '192.0.2.10/24')
      address(client, '192.0.2.20/24')
      const { loader } = await startLabService(server, { directory, boot: {} })
      const local = join(directory, 'fetched')
      const digests = programs
        .filter(({ program }) => tftpHere.has(program))
        .map(({ program, how, command }) => {
          client.run(...command({ host: '192.0.2.10', port: 69, remote: loader.name, local }))
          const digest = digestOf(readFileSync(local))
          rmSync(local)
          return [program, how, digest]
        })
      expect(digests).toEqual(digests.map(([program, how]) => [program, how, loader.sha256]))
    },
  )

  it('field case 50: an inherited socket without an address is found out by the doctor', async () => {
    const [server] = wireUp(lab, 's') as [Namespace]
    const other = lab.namespace('o')
    lab.cable(server, 'eth1', other, 'eth0')
    address(server, '192.0.2.10/24')
    address(server, '198.51.100.10/24', 'eth1')
    const sockets = ['tftp@69']
    const vague = await startLabService(server, { directory, boot: {}, sockets })
    expect(vague.process.errors()).toContain('set boot.address, or give the socket unit one address')
    expect(vague.pilotlight('doctor').stdout).toMatch(
      /fetch +warning +TFTP of \S+ from \S+: the answer to \S+ came from /,
    )
    await vague.process.stop()

    const clear = await startLabService(server, { directory, boot: { address: '192.0.2.10' }, sockets })
    const { stdout } = clear.pilotlight('doctor')
    expect(stdout).toMatch(/fetch +ok +TFTP 192\.0\.2\.10: .*answered from where it was asked/)
    expect(stdout).not.toMatch(/fetch +warning/)
  })
})
