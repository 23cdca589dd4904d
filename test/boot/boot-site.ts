import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { BootimageSummary } from '../../src/http/admin/operations.ts'
import { bootMachine, type Firmware } from './boot-machine.ts'
import type { BootReport } from './boot-report.ts'
import { newerLoaders, type PayloadRelease } from './payload.ts'
import { streamDocument } from './stream-document.ts'

/** Who gives out addresses and boot files on the wire. */
export type DhcpMode =
  /** The site's server gives addresses, we give boot files. */
  | 'proxy'
  /** We give both. */
  | 'server'
  /** The site's server gives both, as our documented snippet says. */
  | 'site'

export const streamName = 'test'
/** Of signed loaders, as `rig/fetch-loaders` names their folder. */
export const loaderSet = 'debian'
const program = resolve(import.meta.dirname, '../../dist/main.js')
const fastClock = resolve(import.meta.dirname, 'fast-clock.mjs')
const phoneHome = 'http://192.0.2.1:8100/done'
const adminUrl = 'http://127.0.0.1:8081'

/** The folder of one boot: a stream, a configuration, and what came of it. */
export interface BootSite {
  readonly directory: string
  /** Where releases lie, beside the stream document. */
  readonly upstream: string
  /** Where the rig leaves what it saw. */
  readonly out: string
  /** Puts the document in place in one step. */
  publish(...releases: readonly PayloadRelease[]): void
  /** Writes the document, to be put in place by the returned shell command. */
  prepareMove(...releases: readonly PayloadRelease[]): string
  /** Writes pilotlight.yaml. */
  configure(config: SiteConfig): void
  boot(boot: SiteBoot): Promise<BootReport>
  /** What the service said of its bootimages when the machine was switched on. */
  bootimages(): readonly BootimageSummary[]
  /** Runs our command line without a service: `sync`. */
  run(...args: readonly string[]): void
  /** Takes releases in, one after the other, before the service is started: the last is current. */
  sync(...releases: readonly PayloadRelease[]): void
  /** A shell command that asks the service's API while it runs, and what it answered. */
  asking(path: string): { readonly command: string; readonly answer: () => unknown }
  /** A shell command that kills the service, as a crash would. */
  readonly kill: string
  log(): string
  console(): string
  remove(): void
}

export interface SiteConfig {
  readonly mode: DhcpMode
  readonly firmware: Firmware
  /** Further keys of the profile `node`. */
  readonly profile?: Readonly<Record<string, unknown>>
  /** Further kernel arguments. */
  readonly kernelArguments?: readonly string[]
  /** Host records; with any, unknown machines are ignored unless `unknown` says otherwise. */
  readonly hosts?: readonly Readonly<Record<string, unknown>>[]
  readonly unknown?: unknown
  /** Further keys of `boot.dhcp`. */
  readonly dhcp?: Readonly<Record<string, unknown>>
  /** Further keys of the stream. */
  readonly stream?: Readonly<Record<string, unknown>>
  /** Further folders of loaders. */
  readonly loaders?: readonly string[]
}

export interface SiteBoot {
  readonly mode: DhcpMode
  readonly firmware: Firmware
  /** The site's DHCP server, instead of a dnsmasq that knows nothing of booting. */
  readonly siteServer?: string
  /** Further options of the rig. */
  readonly options?: readonly string[]
  readonly timeoutSeconds?: number
  /** Shell commands before the service starts. */
  readonly before?: string
  /** Starts the service again whenever it ended. */
  readonly isRestarted?: boolean
  /** Switch the machine on though there is no bootimage yet. */
  readonly isEmpty?: boolean
  /** It is not to come as far as its call home. */
  readonly isToStop?: boolean
  /** How much faster than time the clock of the service goes. */
  readonly clockFactor?: number
}

export function createBootSite(name: string): BootSite {
  const directory = mkdtempSync(join(tmpdir(), `pilotlight-boot-${name.replaceAll(/[^\w-]+/g, '-')}-`))
  const upstream = join(directory, 'upstream')
  const out = join(directory, 'seen')
  const configFile = join(directory, 'pilotlight.yaml')
  const documentFile = join(upstream, 'stream.json')
  const answerFile = join(directory, 'bootimages.json')
  mkdirSync(upstream)
  mkdirSync(join(directory, 'hosts.d'))
  let moves = 0

  function prepareMove(...releases: readonly PayloadRelease[]): string {
    const next = `${documentFile}.${moves++}`
    writeFileSync(next, streamDocument(releases))
    return `mv '${next}' '${documentFile}'`
  }

  const pidFile = join(directory, 'pid')
  const serve = (clockFactor: number) => {
    const fast = clockFactor === 1 ? '' : `--import '${fastClock}' `
    return `env CLOCK_FACTOR=${clockFactor} node ${fast}'${program}' serve --config '${configFile}'`
  }
  const controlSocket = join(directory, 'data/control.sock')

  const askCommand = (path: string, file: string) =>
    `curl -fs --unix-socket '${controlSocket}' http://localhost${path} -o '${file}'`

  function publish(...releases: readonly PayloadRelease[]): void {
    prepareMove(...releases)
    renameSync(`${documentFile}.${moves - 1}`, documentFile)
  }

  function run(...args: readonly string[]): void {
    execFileSync(process.execPath, [program, ...args, '--config', configFile], { stdio: 'pipe' })
  }

  return {
    directory,
    upstream,
    out,
    publish,
    prepareMove,
    run,
    sync(...releases) {
      for (const release of releases) {
        publish(release)
        run('sync')
      }
    },
    kill: `kill -9 $(cat '${pidFile}')`,
    configure(config) {
      writeFileSync(configFile, stringify(configuration(config, directory)))
      writeFileSync(
        join(directory, 'hosts.d/hosts.yaml'),
        stringify({ version: 1, hosts: config.hosts ?? [] }),
      )
    },
    boot({ mode, siteServer, isRestarted, isEmpty, clockFactor = 1, before = '', options = [], ...rest }) {
      const site = siteServer === undefined ? ['--site-dhcp'] : ['--site-cmd', siteServer]
      const once = `${serve(clockFactor)} & echo $! >'${pidFile}'; wait`
      return bootMachine({
        ...rest,
        out,
        server: before + (isRestarted ? `while :; do ${once}; done` : `exec ${serve(clockFactor)}`),
        ready: isEmpty
          ? `curl -fs ${adminUrl}/livez`
          : `curl -fs ${adminUrl}/readyz && ${askCommand('/api/v1/bootimages', answerFile)}`,
        options: [...(mode === 'server' ? [] : site), ...options],
      })
    },
    bootimages: () => JSON.parse(readFileSync(answerFile, 'utf8')).bootimages,
    asking(path) {
      const file = join(directory, 'answer.json')
      return { command: askCommand(path, file), answer: () => JSON.parse(readFileSync(file, 'utf8')) }
    },
    log: () => readFileSync(join(out, 'server.log'), 'utf8'),
    console: () => readFileSync(join(out, 'console.log'), 'utf8'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function configuration(config: SiteConfig, directory: string): object {
  const { mode, firmware, hosts = [] } = config
  const isArm = firmware.startsWith('arm64')
  const isSecure = firmware.endsWith('-secure') || config.profile?.secureBoot === true
  const range = '192.0.2.128-192.0.2.254'
  const subnets = [{ subnet: '192.0.2.0/24', ranges: [range], routers: ['192.0.2.1'] }]
  return {
    version: 1,
    dataDir: join(directory, 'data'),
    boot: {
      http: { listen: '0.0.0.0:80' },
      tftp: { listen: '0.0.0.0:69' },
      ...(mode === 'site'
        ? {}
        : {
            dhcp: { mode, interface: 'eth0', ...(mode === 'server' && { subnets }), ...config.dhcp },
          }),
      // For amd64 those of the system's packages: scripts that an iPXE of 2019 understands are understood by all.
      loaders: {
        directories: [...(isArm ? [newerLoaders()] : []), ...(config.loaders ?? [])],
        ...(isSecure && { sets: { [loaderSet]: { directory: join(newerLoaders(), loaderSet) } } }),
      },
    },
    admin: { listen: '127.0.0.1:8081' },
    streams: {
      [streamName]: {
        source: { file: 'upstream/stream.json' },
        architectures: [isArm ? 'aarch64' : 'x86_64'],
        ...(isSecure && { loaderSet }),
        ...config.stream,
      },
    },
    profiles: {
      node: {
        stream: streamName,
        mode: 'live',
        ...(isSecure && { secureBoot: true }),
        kernelArguments: [
          `console=${isArm ? 'ttyAMA0' : 'ttyS0'}`,
          `pl.done=${phoneHome}`,
          ...(config.kernelArguments ?? []),
        ],
        ...config.profile,
      },
    },
    unknown: config.unknown ?? (hosts.length > 0 ? 'ignore' : { profile: 'node' }),
    hosts: { directory: 'hosts.d' },
  }
}

/** Why no machine can be booted here; `undefined` when one can. */
export function bootProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  const missing = ['qemu-system-x86_64', 'dnsmasq', 'tcpdump', 'python3', 'curl'].filter((name) => !has(name))
  return missing.length > 0
    ? `needs ${missing.join(', ')} (test/boot/rig/install-deps installs all)`
    : undefined
}

export function has(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
