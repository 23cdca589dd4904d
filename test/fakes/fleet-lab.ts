import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type LoadedConfig, loadConfig } from '../../src/config/load-config.ts'
import type { SeenMachine } from '../../src/core/fleet.ts'
import type { ChangeOptions } from '../../src/http/admin/fleet-operations.ts'
import { type Engine, openEngine } from '../../src/runtime/engine.ts'
import { createBootsSeen } from '../../src/runtime/fleet/boots-seen.ts'
import { type FleetParts, openFleet } from '../../src/runtime/fleet/create-fleet-operations.ts'
import { createManualTime, type ManualTime } from './manual-time.ts'
import { createRecordingLog } from './recording-log.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

/** The operations on machines over a real engine and a real store, with time moved by hand. */
export interface FleetLab {
  readonly engine: Engine
  readonly fleet: FleetParts
  readonly time: ManualTime
  readonly seen: SeenMachine[]
  loaded(): LoadedConfig
  /** The files say this from now on, as after a reload. */
  putFiles(files: { readonly hosts?: readonly object[]; readonly config?: object }): Promise<void>
  /** Ends and opens everything again over what is on the disk. */
  reopen(): Promise<void>
  close(): Promise<void>
}

export const byTester: ChangeOptions = { actor: { by: 'tester', via: 'control' } }

/** @param hosts of the one hosts file */
export async function openFleetLab(
  options: { readonly hosts?: readonly object[]; readonly config?: object } = {},
): Promise<FleetLab> {
  const directory = await makeTemporaryDirectory()
  const file = join(directory.path, 'pilotlight.yaml')
  const config = {
    version: 1,
    dataDir: join(directory.path, 'data'),
    boot: { http: { listen: '127.0.0.1:0' } },
    streams: {
      sample: {
        source: { file: join(directory.path, 'none.json') },
        architectures: ['x86_64', 'aarch64'],
        signatures: 'off',
      },
    },
    profiles: { worker: { stream: 'sample', mode: 'live' } },
    groups: { edge: { match: { labels: { site: 'edge' } } } },
    hosts: { directory: 'hosts.d' },
    ...options.config,
  }
  await mkdir(join(directory.path, 'hosts.d'))
  async function load(files: { readonly hosts?: readonly object[]; readonly config?: object }) {
    await writeFile(file, stringify({ ...config, ...files.config }))
    const hosts = stringify({ version: 1, hosts: files.hosts ?? options.hosts ?? [] })
    await writeFile(join(directory.path, 'hosts.d/hosts.yaml'), hosts)
    return loadConfig({ file, env: {}, cwd: directory.path })
  }
  let loaded = await load(options)
  const time = createManualTime(Date.UTC(2026, 10, 1))
  const seen: SeenMachine[] = []
  const log = createRecordingLog()

  async function open(): Promise<{ engine: Engine; fleet: FleetParts }> {
    const [clock, timers] = [time, time]
    const engine = await openEngine({ loaded, log, clock, timers, follows: false })
    await engine.configure(loaded)
    const boots = createBootsSeen({
      lastBootAt: () => undefined,
      troubleOf: () => undefined,
      listBoots: async () => ({ items: [], total: 0 }),
      store: engine.storage.store,
      conflictsOf: () => [],
      inventory: () => engine.fleet.inventory(),
    })
    const fleet = await openFleet({
      engine,
      boots,
      seen: {
        list: () => seen,
        async forget(macs) {
          seen.splice(0, seen.length, ...seen.filter(({ mac }) => !macs.includes(mac)))
        },
      },
      fetches: false,
      clock,
      timers,
      log,
    })
    return { engine, fleet }
  }

  let parts = await open()
  async function end(): Promise<void> {
    await parts.fleet.stop()
    await parts.engine.stop()
  }
  return {
    get engine() {
      return parts.engine
    },
    get fleet() {
      return parts.fleet
    },
    time,
    seen,
    loaded: () => loaded,
    async putFiles(files) {
      loaded = await load(files)
      await parts.engine.configure(loaded)
    },
    async reopen() {
      await end()
      parts = await open()
    },
    async close() {
      await end()
      await directory.remove()
    },
  }
}
