import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** A network namespace of this test run. */
export interface Namespace {
  readonly name: string
  /** Runs a command in it to its end; throws when that fails. */
  run(...command: readonly string[]): string
  /** Starts a command in it; `stop` of the lab ends it. */
  start(command: readonly string[], environment?: Readonly<Record<string, string>>): LineProcess
}

/** A process that speaks in lines. */
export interface LineProcess {
  readonly pid: number | undefined
  readonly exited: Promise<number | null>
  /** The next line that it prints; rejects when it ended. */
  line(): Promise<string>
  /** Everything on standard error so far. */
  errors(): string
  write(line: string): void
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface Lab {
  namespace(name: string): Namespace
  /** A cable between two namespaces, with an interface of the given name at each end. */
  cable(a: Namespace, aInterface: string, b: Namespace, bInterface: string): void
  stop(): Promise<void>
}

/** iproute2's. */
const ipCommand = 'ip'

/** Why there can be no namespaces here; `undefined` when there can. */
export function labProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  const name = `pl${process.pid}probe`
  const made = spawnSync(ipCommand, ['netns', 'add', name])
  if (made.error) return 'needs the ip command (package iproute2)'
  if (made.status !== 0) return 'network namespaces cannot be made here'
  spawnSync(ipCommand, ['netns', 'del', name])
  return undefined
}

export function hasCommand(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}

/** Networks that nobody else can see; nothing of them is left after `stop`. */
export function createLab(): Lab {
  const namespaces: string[] = []
  const processes: LineProcess[] = []
  let cables = 0

  const ip = (...command: readonly string[]): string =>
    execFileSync(ipCommand, command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

  return {
    namespace(short) {
      const name = `pl${process.pid}${short}`
      ip('netns', 'add', name)
      namespaces.push(name)
      ip('-n', name, 'link', 'set', 'lo', 'up')
      return {
        name,
        run: (...command) => ip('netns', 'exec', name, ...command),
        start(command, environment = {}) {
          const started = startLines([ipCommand, 'netns', 'exec', name, ...command], environment)
          processes.push(started)
          return started
        },
      }
    },
    cable(a, aInterface, b, bInterface) {
      const [aEnd, bEnd] = [`pl${process.pid % 10_000}a${cables}`, `pl${process.pid % 10_000}b${cables}`]
      cables++
      ip('link', 'add', aEnd, 'type', 'veth', 'peer', 'name', bEnd)
      for (const [end, { name }, as] of [
        [aEnd, a, aInterface],
        [bEnd, b, bInterface],
      ] as const) {
        ip('link', 'set', end, 'netns', name)
        ip('-n', name, 'link', 'set', end, 'name', as)
        ip('-n', name, 'link', 'set', as, 'up')
      }
    },
    async stop() {
      for (const each of processes.reverse()) await each.stop('SIGKILL')
      for (const name of namespaces) spawnSync(ipCommand, ['netns', 'del', name])
    },
  }
}

function startLines(command: readonly string[], environment: Readonly<Record<string, string>>): LineProcess {
  const [file = '', ...rest] = command
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(file, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    pid: child.pid,
    exited,
    async line() {
      const next = await lines.next()
      if (next.done) throw new Error(`${command.join(' ')} ended: ${errors}`)
      return next.value
    },
    errors: () => errors,
    write: (line) => child.stdin.write(`${line}\n`),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await exited
    },
  }
}
