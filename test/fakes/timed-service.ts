import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { DhcpPorts } from '../../src/dhcp/destination.ts'
import type { BootDetail, BootSummary, PatternSummary } from '../../src/http/admin/schemas/boots.ts'
import { freeUdpPort } from './free-port.ts'
import { makeBiosProgram, makeIpxe } from './loader-images.ts'
import { type BootWire, openBootWire } from './pxe-machine.ts'
import { askControl } from './running-service.ts'
import { eventually, startTimedProcess } from './service-process.ts'
import { startUpstreamSite, type UpstreamSite } from './upstream-site.ts'

/** The built service on loopback, DHCP and TFTP included, with time that the test moves. */
export interface TimedService {
  readonly site: UpstreamSite
  readonly wire: BootWire
  /** As if so much time had been waited for. */
  pass(ms: number): Promise<void>
  /** Somebody sets the clock; timers do not notice. Returns what it shows then. */
  jump(ms: number): Promise<number>
  /** GET of the API over the control socket. @throws Error for another status than 200 */
  api<T>(path: string): Promise<T>
  /** The boot by its id, or the last one of a machine, once it is like this. @throws Error with what it was like instead */
  boot(machine: string, isSo?: (boot: BootDetail) => boolean): Promise<BootDetail>
  boots(): Promise<readonly BootSummary[]>
  patterns(): Promise<readonly PatternSummary[]>
  metrics(): Promise<string>
  /** Lines of the log of at least this level. */
  warnings(): readonly string[]
  stop(): Promise<void>
}

export const servedRelease = '44.20260622.3.0'
/** A rootfs that fits into no socket buffer. */
const sizes = { kernelBytes: 64 << 10, initramfsBytes: 160 << 10, rootfsBytes: 12 << 20 }
const armMachine = 0xaa64
const loaders: Readonly<Record<string, Buffer>> = {
  'snponly.efi': makeIpxe(),
  'snponly-arm64.efi': makeIpxe({ machine: armMachine }),
  'undionly.kpxe': makeBiosProgram('\0iPXE/%s\x001.21.1+ (g1234)\0http\0'),
}

/**
 * Hosts follow the release of the site, unless their record says otherwise; `reports` is a profile whose machines get
 * an Ignition config and report.
 */
export async function startTimedService(options: {
  readonly dhcp: object
  readonly hosts?: readonly object[]
}): Promise<TimedService> {
  const directory = await mkdtemp(join(tmpdir(), 'pilotlight-timed-'))
  const site = await startUpstreamSite({ releases: [servedRelease], sizes })
  const ports: DhcpPorts = {
    server: await freeUdpPort(),
    client: await freeUdpPort(),
    proxy: await freeUdpPort(),
  }
  const tftpPort = await freeUdpPort()
  await mkdir(join(directory, 'hosts.d'))
  const file = join(directory, 'pilotlight.yaml')
  for (const [name, bytes] of Object.entries(loaders)) await writeFile(join(directory, name), bytes)
  const ignition = { inline: '{"ignition":{"version":"3.4.0"}}' }
  await writeFile(
    file,
    stringify({
      version: 1,
      dataDir: join(directory, 'data'),
      boot: {
        address: '127.0.0.1',
        http: { listen: '127.0.0.1:0' },
        tftp: { listen: `127.0.0.1:${tftpPort}` },
        dhcp: { interface: 'lo', ...options.dhcp },
        loaders: { directories: [directory] },
        tokens: { life: '30m' },
      },
      admin: { listen: '127.0.0.1:0' },
      log: { format: 'json' },
      streams: {
        sample: {
          source: { url: site.streamUrl, releaseIndex: site.releaseIndexUrl },
          refresh: '24h',
          signatures: 'off',
        },
      },
      profiles: {
        worker: { stream: 'sample', mode: 'live' },
        reports: { stream: 'sample', mode: 'live', ignition },
        disk: { mode: 'local' },
      },
      unknown: { profile: 'worker' },
      hosts: { directory: 'hosts.d' },
    }),
  )
  await writeFile(
    join(directory, 'hosts.d/hosts.yaml'),
    stringify({ version: 1, hosts: options.hosts ?? [] }),
  )
  const running = await startTimedProcess(file, ports)
  const wire = await openBootWire({ ports, tftpPort, bootUrl: running.bootUrl })
  const socketPath = join(directory, 'data/control.sock')
  const api = <T>(path: string) => askControl<T>(socketPath, 'GET', path)

  async function tell(message: { readonly pass?: number; readonly jump?: number }): Promise<number> {
    const answered = once(running.child, 'message')
    running.child.send(message)
    const [{ now }] = (await answered) as [{ now: number }]
    return now
  }

  await eventually(
    () => api<{ streams: readonly { architectures: readonly { current?: string }[] }[] }>('/api/v1/streams'),
    ({ streams }) => streams[0]?.architectures[0]?.current === servedRelease,
  )

  return {
    site,
    wire,
    async pass(ms) {
      await tell({ pass: ms })
    },
    jump: (ms) => tell({ jump: ms }),
    api,
    boot: (machine, isSo = () => true) =>
      eventually(() => api<BootDetail>(`/api/v1/boots/${encodeURIComponent(machine)}`), isSo, 5_000),
    boots: async () => (await api<{ readonly items: readonly BootSummary[] }>('/api/v1/boots')).items,
    patterns: async () =>
      (await api<{ readonly patterns: readonly PatternSummary[] }>('/api/v1/patterns')).patterns,
    metrics: async () => (await fetch(`${running.adminUrl}/metrics`)).text(),
    warnings: () =>
      running
        .output()
        .split('\n')
        .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)),
    async stop() {
      await wire.close()
      await running.kill()
      await site.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
