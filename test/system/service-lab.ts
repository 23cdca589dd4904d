import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { makeSampleLoader, type SampleLoader } from '../../src/runtime/demo/sample-loader.ts'
import { eventually } from '../fakes/service-process.ts'
import type { Lab, LineProcess, Namespace } from './namespaces.ts'

const here = import.meta.dirname
const dist = resolve(here, '../../dist')
export const program = join(dist, 'main.js')

/** A switch with a cable to each of the named machines, whose end is `eth0`. */
export function wireUp(lab: Lab, ...names: readonly string[]): readonly Namespace[] {
  const wire = lab.namespace('w')
  wire.run('ip', 'link', 'add', 'br0', 'type', 'bridge')
  wire.run('ip', 'link', 'set', 'br0', 'up')
  return names.map((name, index) => {
    const machine = lab.namespace(name)
    lab.cable(machine, 'eth0', wire, `port${index}`)
    wire.run('ip', 'link', 'set', `port${index}`, 'master', 'br0')
    return machine
  })
}

export interface LabService {
  readonly process: LineProcess
  readonly configFile: string
  readonly loader: SampleLoader
  /** Exit status and what it printed, of the built program in the service's network. */
  pilotlight(...argv: readonly string[]): { readonly status: number; readonly stdout: string }
}

export interface LabServiceOptions {
  readonly directory: string
  readonly boot: object
  /** Over the configuration that is written by default. */
  readonly config?: object
  /** Starts the program with inherited sockets; see socket-activation.py. */
  readonly sockets?: readonly string[]
}

/** Starts the built service, with a sample loader, in a namespace; resolves when it listens. */
export async function startLabService(
  namespace: Namespace,
  { directory, boot, config: more = {}, sockets = [] }: LabServiceOptions,
): Promise<LabService> {
  const loader = makeSampleLoader()
  const loaders = join(directory, 'loaders')
  mkdirSync(loaders, { recursive: true })
  writeFileSync(join(loaders, loader.name), loader.bytes)
  const configFile = join(directory, 'pilotlight.yaml')
  const config = {
    version: 1,
    dataDir: join(directory, 'data'),
    boot: { tftp: {}, loaders: { directories: [loaders] }, ...boot },
    streams: {},
    profiles: { worker: { mode: 'local' } },
    unknown: { profile: 'worker' },
    ...more,
  }
  writeFileSync(configFile, stringify(config))
  const serve = [process.execPath, program, 'serve', '--config', configFile]
  const command =
    sockets.length === 0 ? serve : ['python3', join(here, 'socket-activation.py'), ...sockets, '--', ...serve]
  const started = namespace.start(command)
  let hasEnded = false
  void started.exited.then(() => {
    hasEnded = true
  })
  await eventually(
    async () => hasEnded || started.errors().includes('Next, in another terminal'),
    (isThere) => isThere,
  )
  if (hasEnded) throw new Error(`the service ended: ${started.errors()}`)
  return {
    process: started,
    configFile,
    loader,
    pilotlight(...argv) {
      // A problem is an exit status, and `run` throws for those.
      const script = `"$@"; echo "status $?"`
      const words = [process.execPath, program, ...argv, '--config', configFile]
      const said = namespace.run('sh', '-c', script, 'sh', ...words)
      const [, stdout = '', status = ''] = /^([\s\S]*)status (\d+)\n$/.exec(said) ?? []
      return { status: Number(status), stdout }
    },
  }
}

/** One step of a boot in a machine's network; see boot-client.mjs. */
export function bootStep<T>(machine: Namespace, step: object): T {
  return JSON.parse(machine.run(process.execPath, join(here, 'boot-client.mjs'), dist, JSON.stringify(step)))
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
