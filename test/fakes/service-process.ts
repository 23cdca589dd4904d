import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { DhcpPorts } from '../../src/dhcp/destination.ts'

/** The built program as a process of its own, for tests that kill it. */
export interface ServiceProcess {
  readonly child: ChildProcess
  readonly bootUrl: string
  readonly adminUrl: string
  /** Everything it wrote to stderr so far. */
  output(): string
  kill(signal?: NodeJS.Signals): Promise<void>
}

const program = resolve(import.meta.dirname, '../../dist/main.js')
const portedService = resolve(import.meta.dirname, 'ported-service.mjs')

/** Starts `serve` and resolves when it says where it listens. @throws Error with its output when it ends before */
export function startServiceProcess(config: string, env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
  return startProcess([program, 'serve', '--config', config], env)
}

/** The same, with DHCP on ports that need no rights. */
export function startPortedService(config: string, ports: DhcpPorts): Promise<ServiceProcess> {
  return startProcess([portedService, config, JSON.stringify(ports)], {})
}

const timedService = resolve(import.meta.dirname, 'timed-service.mjs')

/** The same, and time passes when it is sent a message. */
export function startTimedProcess(config: string, ports: DhcpPorts): Promise<ServiceProcess> {
  return startProcess([timedService, config, JSON.stringify(ports)], {}, true)
}

async function startProcess(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  hearsMessages = false,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, argv, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(hearsMessages ? (['ipc'] as const) : [])],
  })
  let output = ''
  const exited = once(child, 'exit')
  const urls = new Promise<readonly [string, string]>((found, failed) => {
    const onText = (text: Buffer) => {
      output += text.toString()
      const boot = /boot +(http:\S+)/.exec(output)?.[1]
      const admin = /admin +(https?:\S+)/.exec(output)?.[1]
      if (boot !== undefined && admin !== undefined) found([boot, admin])
    }
    child.stdout?.on('data', onText)
    child.stderr?.on('data', onText)
    exited.then(() => failed(new Error(`the service ended early:\n${output}`)))
  })
  const [bootUrl, adminUrl] = await urls
  return {
    child,
    bootUrl,
    adminUrl,
    output: () => output,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      if (child.exitCode === null && child.signalCode === null) await exited
    },
  }
}

/** Asks until the answer satisfies; a bound instead of a sleep. @throws Error with the last answer */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  withinMs = 25_000,
): Promise<T> {
  const until = Date.now() + withinMs
  for (;;) {
    const answer = await ask().catch((error: unknown) => error as T)
    if (!(answer instanceof Error) && satisfies(answer)) return answer
    if (Date.now() > until)
      throw new Error(
        `not within ${withinMs} ms; last: ${answer instanceof Error ? answer.stack : JSON.stringify(answer)}`,
      )
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
