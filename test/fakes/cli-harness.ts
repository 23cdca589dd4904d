import type { CliContext, CliInput, CliRuntime, CliStream, DemoOptions } from '../../src/cli/context.ts'
import { openRunningService } from '../../src/cli/open-operations.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import type { LoadedConfig } from '../../src/config/load-config.ts'
import type { Service } from '../../src/runtime/service.ts'
import { createFakeOperations, type FakeAnswers } from './admin-operations.ts'
import { healthyFacts } from './doctor-facts.ts'

export interface CliRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface HarnessOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly answers?: FakeAnswers
  readonly isTTY?: boolean
  readonly columns?: number
  /** What is typed, line by line; absent: nobody is there. */
  readonly typed?: readonly string[]
  /** What comes by a pipe. */
  readonly piped?: string
  readonly runtime?: Partial<CliRuntime>
  /** Default: it is noon, and stays noon. */
  readonly now?: () => number
  /** Aborts when somebody types Ctrl-C. */
  readonly interruption?: AbortSignal
}

const noon = Date.parse('2026-11-29T12:00:00Z')

function recordingStream({ isTTY = false, columns }: HarnessOptions): CliStream & { text: string } {
  return {
    text: '',
    isTTY,
    ...(columns !== undefined && { columns }),
    write(text) {
      this.text += typeof text === 'string' ? text : Buffer.from(text).toString('latin1')
    },
  }
}

/** The command line with a runtime that starts nothing and remembers what it was asked to start. */
export function createCliHarness(options: HarnessOptions) {
  const operations = createFakeOperations(options.answers)
  const opened: LoadedConfig[] = []
  const demos: DemoOptions[] = []
  let closed = 0
  const service: Service = {
    bootUrl: 'http://127.0.0.1:8080',
    adminUrl: 'http://127.0.0.1:8081',
    tftpAddresses: () => [],
    operations,
    stop: async () => {},
  }
  const runtime: CliRuntime = {
    async startService({ loaded }) {
      opened.push(loaded)
      return service
    },
    async openOffline({ loaded }) {
      opened.push(loaded)
      return {
        operations,
        close: async () => {
          closed += 1
        },
      }
    },
    // What listens there is asked; a test that has no socket hands in a service of its own.
    openService: openRunningService,
    checkKernels: async () => [],
    async gatherFacts({ loaded }) {
      opened.push(loaded)
      return healthyFacts()
    },
    async runDemo(demo) {
      demos.push(demo)
      demo.stdout.write('story\n')
      return 0
    },
    async keepRunning(start) {
      await start()
      return 0
    },
    ...options.runtime,
  }

  const typed = [...(options.typed ?? [])]
  const questions: string[] = []
  const stdin: CliInput = {
    isTTY: options.typed !== undefined,
    async ask(question) {
      questions.push(question)
      return typed.shift()
    },
    readAll: async () => options.piped ?? '',
  }

  async function run(...argv: string[]): Promise<CliRun> {
    const stdout = recordingStream(options)
    const stderr = recordingStream(options)
    const context: CliContext = {
      argv,
      env: options.env ?? {},
      cwd: options.cwd,
      stdout,
      stderr,
      stdin,
      userName: 'alice',
      version: '1.2.3',
      programName: 'pilotlight',
      runtime,
      now: options.now ?? (() => noon),
      untilInterrupted: () => options.interruption ?? new AbortController().signal,
      // No real time: lets everything else go first, then ends.
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
    }
    const code = await runCli(context)
    return { code, stdout: stdout.text, stderr: stderr.text }
  }
  return { run, operations, opened, demos, questions, service, closedCount: () => closed }
}
