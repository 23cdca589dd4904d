import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { loadConfig } from '../../config/load-config.ts'
import { isServiceError } from '../../core/errors.ts'
import { silentLog } from '../../core/log.ts'
import type { Service } from '../service.ts'
import { startService } from '../start-service.ts'
import { writeDemoConfiguration } from './demo-configuration.ts'
import { type DemoWire, openDemoWire } from './demo-wire.ts'
import { makeSampleLoader, type SampleLoader } from './sample-loader.ts'
import { makeSampleRelease } from './sample-release.ts'
import { type SampleUpstream, startSampleUpstream } from './sample-upstream.ts'
import { tellDemo } from './scenes.ts'
import { createStory, type StoryOutput } from './story.ts'

export interface DemoOptions {
  /** End after the story instead of staying up to be explored. */
  readonly once: boolean
  readonly stdout: StoryOutput
  /** How to call this program from anywhere. */
  readonly programName: string
  /** Of the boot listener; default: a free one. */
  readonly port?: number
  /** Ends the demo at once, also in the middle of the story. */
  readonly signal?: AbortSignal
}

export const sampleReleases = ['44.20260601.3.0', '44.20260622.3.0', '44.20260707.3.1'] as const

/**
 * Shows the whole main job on loopback, without root and without internet: a sample upstream, the real service, and a
 * simulated node that boots and checks every digest. Its files live in a temporary folder and go with it.
 * @returns the exit code: 0, or 1 when anything differed or it was ended before everything was checked
 */
export async function runDemo({ once, stdout, programName, port = 0, signal }: DemoOptions): Promise<number> {
  // What is under way when it is ended says nothing any more.
  const story = createStory({ write: (text) => signal?.aborted === true || stdout.write(text) })
  const directory = await mkdtemp(join(tmpdir(), 'pilotlight-demo-'))
  // For the ends that come without warning: a second Ctrl-C, a stop that takes too long.
  const removeAtExit = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  let upstream: SampleUpstream | undefined
  let wire: DemoWire | undefined
  let stopService = async (): Promise<void> => {}
  try {
    stdout.write(
      'Pilotlight demo: everything on 127.0.0.1, made-up artifacts, nothing leaves this machine.\n',
    )
    story.chapter('A sample upstream starts')
    const releases = sampleReleases.map((release) => makeSampleRelease(release, ['x86_64', 'aarch64']))
    const sampleUpstream = await startSampleUpstream({
      releases,
      current: sampleReleases[1],
      lastModified: '2026-07-08T12:00:00Z',
    })
    upstream = sampleUpstream
    story.tell(`three signed releases for two architectures at ${sampleUpstream.streamUrl}`)
    story.tell(`the stream stands at ${sampleReleases[1]}`)

    const loader = makeSampleLoader()
    wire = await openDemoWire()
    const parts = { directory, upstream: sampleUpstream, port, loader }
    const { file, service, ...started } = await startDemoService(parts, wire)
    stopService = () => service.stop()

    const telling = tellDemo({ story, service, upstream: sampleUpstream, releases, loader, ...started })
    if (!(await isDoneBefore(telling, signal))) {
      stdout.write(`\nEnded before everything was checked (${story.checks} checks until then).\n`)
      return 1
    }

    const { checks, failures } = story
    if (failures.length > 0) {
      stdout.write(
        `\n${failures.length} of ${checks} checks failed:\n${failures.map((text) => `  ${text}\n`).join('')}`,
      )
      return 1
    }
    stdout.write(`\nAll ${checks} checks passed.\n`)
    if (once || signal?.aborted === true) return 0
    stdout.write(explore(programName, file, service, await demoToken(service)))
    await delay(2 ** 31 - 1, undefined, { ...(signal === undefined ? {} : { signal }) }).catch(() => {})
    return 0
  } finally {
    await stopService()
    await wire?.client.close()
    await upstream?.stop()
    await rm(directory, { recursive: true, force: true })
    process.off('exit', removeAtExit)
  }
}

/** `false` as soon as the signal aborts; what goes on then fails by itself when everything is closed. */
async function isDoneBefore(work: Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal === undefined) return work.then(() => true)
  work.catch(() => {})
  const ended = new Promise<boolean>((resolve) => {
    if (signal.aborted) resolve(false)
    signal.addEventListener('abort', () => resolve(false), { once: true })
  })
  return Promise.race([work.then(() => true), ended])
}

interface DemoParts {
  readonly directory: string
  readonly upstream: SampleUpstream
  readonly port: number
  readonly loader: SampleLoader
}

interface StartedDemo {
  readonly file: string
  readonly service: Service
  readonly wire?: DemoWire
}

async function startDemoService(parts: DemoParts, wire: DemoWire | undefined): Promise<StartedDemo> {
  const { directory, upstream, port, loader } = parts
  const file = await writeDemoConfiguration({
    directory,
    upstream,
    bootPort: port,
    adminPort: 0,
    pinnedRelease: sampleReleases[0],
    loader,
    ...(wire === undefined ? {} : { dhcpInterface: wire.interface }),
  })
  const load = () => loadConfig({ file, env: {}, cwd: directory, now: Date.now() })
  const dhcpPorts = wire === undefined ? {} : { dhcpPorts: wire.ports }
  try {
    const service = await startService({ loaded: load(), log: silentLog, reload: load, ...dhcpPorts })
    return { file, service, ...(wire === undefined ? {} : { wire }) }
  } catch (error) {
    // A kernel that does not let us bind to the loopback costs the demo one chapter, not all of them.
    if (wire === undefined || !isServiceError(error, 'LISTEN_FAILED')) throw error
    return startDemoService(parts, undefined)
  }
}

/** Of this demo alone: its state goes when it ends. */
async function demoToken({ operations }: Service): Promise<string> {
  const change = { actor: { by: 'the demo', via: 'control' } } as const
  const { secret } = await operations.fleet.createToken({ name: 'demo', role: 'write' }, change)
  return secret
}

function explore(
  programName: string,
  file: string,
  { bootUrl, adminUrl }: { bootUrl: string; adminUrl: string },
  token: string,
): string {
  const command = `${programName} --config ${file}`
  return `
The service stays up until Ctrl-C. The page: ${adminUrl}/
Log in with this token, which ends with the demo: ${token}

In another terminal:

  curl ${bootUrl}/boot.ipxe
  curl '${bootUrl}/ipxe?mac=52-54-00-00-00-01&arch=x86_64&platform=efi'
  curl ${bootUrl}/streams/sample.json
  curl ${adminUrl}/readyz
  ${command} bootimages
  ${command} host list
  ${command} host show pinned-node
  ${command} boots
  ${command} boots show stuck-node
  ${command} patterns
  ${command} token create me --role write > token
  curl -H "Authorization: Bearer $(cat token)" ${adminUrl}/api/v1/pins

The section "Tasks" of README.md works with it, after: export PILOTLIGHT_CONFIG=${file}

For real: ${programName} serve
`
}
