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
  /** Of the boot listener; default: a free one. */
  readonly port?: number
  /** Ends the demo. */
  readonly signal?: AbortSignal
}

export const sampleReleases = ['44.20260601.3.0', '44.20260622.3.0', '44.20260707.3.1'] as const

/**
 * Shows the whole main job on loopback, without root and without internet: a sample upstream, the real service, and a
 * simulated node that boots and checks every digest. Its files live in a temporary folder and go with it.
 * @returns the exit code: 0, or 1 when anything differed
 */
export async function runDemo({ once, stdout, port = 0, signal }: DemoOptions): Promise<number> {
  const story = createStory(stdout)
  const directory = await mkdtemp(join(tmpdir(), 'pilotlight-demo-'))
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

    await tellDemo({ story, service, upstream: sampleUpstream, releases, loader, ...started })

    const { checks, failures } = story
    if (failures.length > 0) {
      stdout.write(
        `\n${failures.length} of ${checks} checks failed:\n${failures.map((text) => `  ${text}\n`).join('')}`,
      )
      return 1
    }
    stdout.write(`\nAll ${checks} checks passed.\n`)
    if (once || signal?.aborted === true) return 0
    stdout.write(explore(file, service))
    await delay(2 ** 31 - 1, undefined, { ...(signal === undefined ? {} : { signal }) }).catch(() => {})
    return 0
  } finally {
    await stopService()
    await wire?.client.close()
    await upstream?.stop()
    await rm(directory, { recursive: true, force: true })
  }
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

function explore(file: string, { bootUrl, adminUrl }: { bootUrl: string; adminUrl: string }): string {
  return `
The service stays up until Ctrl-C. In another terminal:

  curl ${bootUrl}/boot.ipxe
  curl '${bootUrl}/ipxe?mac=52-54-00-00-00-01&arch=x86_64&platform=efi'
  curl ${bootUrl}/streams/sample.json
  curl ${adminUrl}/readyz
  curl ${adminUrl}/api/v1/streams
  node dist/main.js --config ${file} bootimages
  node dist/main.js --config ${file} explain --host pinned-node

For real: npm start
`
}
