import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Arch } from '../../src/core/arch.ts'
import type {
  BootimageSummary,
  Explanation,
  Readiness,
  StreamSummary,
  SyncReport,
} from '../../src/http/admin/operations.ts'
import type { SampleSet } from '../../src/runtime/demo/sample-release.ts'
import { bootSimulatedNode, type NodeBoot, type NodeFetch } from '../../src/runtime/demo/simulated-node.ts'
import { type RawResponse, requestRaw } from './raw-http.ts'
import { eventually, type ServiceProcess, startServiceProcess } from './service-process.ts'
import type { UpstreamSite } from './upstream-site.ts'

/** One JSON line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

export interface BootOptions {
  readonly mac?: string
  readonly onFetched?: (fetch: NodeFetch) => Promise<void>
}

/** The built program over a data directory and configuration of its own; it may be stopped and started again. */
export interface RunningService {
  /** Holds the configuration, `hosts.d` and `data`. */
  readonly directory: string
  readonly dataDirectory: string
  readonly configFile: string
  /** They stay the same over restarts, because machines keep URLs. */
  readonly bootPort: number
  readonly bootUrl: string
  readonly adminUrl: string
  /** The process that runs now. */
  process(): ServiceProcess
  start(): Promise<void>
  /** Ends the process; SIGKILL unless told otherwise. */
  kill(signal?: NodeJS.Signals): Promise<void>
  restart(signal?: NodeJS.Signals): Promise<void>
  /** Writes a file below the directory, whole or not at all, as an editor does. */
  write(path: string, text: string): Promise<void>
  /** Writes the configuration with changes to its top level. */
  writeConfig(changes: object): Promise<void>
  hangUp(): void
  /** GET of the API, over the control socket: no token is needed there. @throws Error for another status than 200 */
  api<T>(path: string): Promise<T>
  streams(): Promise<readonly StreamSummary[]>
  /** What the only stream, or the named one, hands out for x86_64 or another architecture. */
  current(arch?: Arch): Promise<string | undefined>
  bootimages(): Promise<readonly BootimageSummary[]>
  explain(query: Readonly<Record<string, string>>): Promise<Explanation>
  readiness(): Promise<Readiness & { readonly status: number }>
  /** POST over the control socket, as the command line does. */
  control<T>(path: string, body?: object): Promise<T>
  sync(): Promise<SyncReport>
  /** GET of the boot listener, on a connection of its own, read strictly. */
  get(target: string, headers?: readonly string[]): Promise<RawResponse>
  /** The script of a machine with this MAC, without booting it. */
  script(mac: string, query?: string): Promise<string>
  /** Boots a simulated node to the end, as often as it is told to wait. */
  boot(options?: BootOptions): Promise<NodeBoot>
  log(): readonly LogLine[]
  /** Kills the process and removes the directory. */
  remove(): Promise<void>
}

export interface RunningServiceOptions {
  /** The upstream of stream `sample`. */
  readonly site?: UpstreamSite
  /** Added to the settings of stream `sample`. */
  readonly stream?: object
  /** Added to the top level of the configuration. */
  readonly config?: object
  /** `hosts.d/hosts.yaml`. */
  readonly hosts?: readonly object[]
  /** Parent of everything; default: the folder for temporary files. */
  readonly parent?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the built program. What it follows, unless told otherwise: the site's stream, live for every machine. */
export async function startRunningService(options: RunningServiceOptions = {}): Promise<RunningService> {
  const { site, hosts } = options
  const directory = await mkdtemp(join(options.parent ?? tmpdir(), 'pilotlight-service-'))
  const dataDirectory = join(directory, 'data')
  const configFile = join(directory, 'pilotlight.yaml')
  const source = site && { url: site.streamUrl, releaseIndex: site.releaseIndexUrl }
  const base = {
    version: 1,
    dataDir: dataDirectory,
    boot: { http: { listen: '127.0.0.1:0' } },
    admin: { listen: '127.0.0.1:0' },
    log: { format: 'json' },
    ...(source && {
      streams: { sample: { source, refresh: '1h', signatures: 'off', ...options.stream } },
      profiles: { worker: { stream: 'sample', mode: 'live' } },
      unknown: { profile: 'worker' },
    }),
    hosts: { directory: 'hosts.d' },
    ...options.config,
  }

  async function write(path: string, text: string): Promise<void> {
    const target = join(directory, path)
    await writeFile(`${target}.new~`, text)
    await rename(`${target}.new~`, target)
  }

  await mkdir(join(directory, 'hosts.d'))
  if (hosts !== undefined) await write('hosts.d/hosts.yaml', stringify({ version: 1, hosts }))
  await write('pilotlight.yaml', stringify(base))

  let running = await startServiceProcess(configFile, options.env)
  const { bootUrl, adminUrl } = running
  let outputBefore = ''

  async function start(): Promise<void> {
    outputBefore += running.output()
    running = await startServiceProcess(configFile, {
      ...options.env,
      PILOTLIGHT_BOOT_HTTP_LISTEN: new URL(bootUrl).host,
      PILOTLIGHT_ADMIN_LISTEN: new URL(adminUrl).host,
    })
  }

  const socketPath = join(dataDirectory, 'control.sock')
  const api = <T>(path: string) => askControl<T>(socketPath, 'GET', path)

  const service: RunningService = {
    directory,
    dataDirectory,
    configFile,
    bootPort: Number(new URL(bootUrl).port),
    bootUrl,
    adminUrl,
    process: () => running,
    start,
    kill: (signal) => running.kill(signal),
    async restart(signal) {
      await running.kill(signal)
      await start()
    },
    write,
    writeConfig: (changes) => write('pilotlight.yaml', stringify({ ...base, ...changes })),
    hangUp: () => void running.child.kill('SIGHUP'),
    api,
    streams: async () => (await api<{ streams: readonly StreamSummary[] }>('/api/v1/streams')).streams,
    async current(arch = 'x86_64') {
      const [stream] = await service.streams()
      return stream?.architectures.find((entry) => entry.arch === arch)?.current
    },
    bootimages: async () =>
      (await api<{ bootimages: readonly BootimageSummary[] }>('/api/v1/bootimages')).bootimages,
    explain: (query) => api(`/api/v1/explain?${new URLSearchParams(query)}`),
    async readiness() {
      const response = await fetch(`${adminUrl}/readyz`)
      return { ...((await response.json()) as Readiness), status: response.status }
    },
    control: (path, body = {}) => askControl(socketPath, 'POST', path, body),
    sync: () => service.control<SyncReport>('/api/v1/sync'),
    get: (target, headers = []) => requestRaw(service.bootPort, target, { headers }),
    async script(mac, query = 'arch=x86_64&platform=efi') {
      return (await service.get(`/ipxe?mac=${mac}&${query}`)).body.toString()
    },
    boot: ({ mac = unknownMac, onFetched } = {}) =>
      bootSimulatedNode({
        baseUrl: bootUrl,
        mac,
        buildArch: 'x86_64',
        platform: 'efi',
        sleep: () => delay(50),
        ...(onFetched && { onFetched }),
      }),
    log: () => readLog(outputBefore + running.output()),
    async remove() {
      await running.kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return service
}

/** A machine that no host record knows. */
export const unknownMac = '52:54:00:00:00:01'

/** Waits until the stream hands out this release. */
export function untilCurrent(service: RunningService, release: string): Promise<unknown> {
  return eventually(
    () => service.current(),
    (current) => current === release,
  )
}

/** What a node fetched after its scripts, as digests, in the order in which nodes do. */
export function digestsOfBoot({ fetches }: NodeBoot): readonly string[] {
  return fetches.filter(({ what }) => what !== 'entry' && what !== 'script').map(({ sha256 }) => sha256)
}

/** Kernel, initramfs and rootfs of a set, in the order in which nodes fetch them. */
export function digestsOfSet({ kernel, initramfs, rootfs }: SampleSet): readonly string[] {
  return [kernel.sha256, initramfs.sha256, rootfs.sha256]
}

export function digestOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function readLog(output: string): readonly LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine)
}

/** One request over the control socket, as the command line does it. @throws Error for another status than 200 */
export function askControl<T>(socketPath: string, method: string, path: string, body?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = httpRequest({ socketPath, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as T)
        else reject(new Error(`${path} answered ${response.statusCode}: ${text}`))
      })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
