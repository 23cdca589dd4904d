#!/usr/bin/env node
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { CliRuntime, Interruption } from './cli/context.ts'
import { createStandardInput } from './cli/input/standard-input.ts'
import { userName } from './cli/input/user-name.ts'
import { openRunningService } from './cli/open-operations.ts'
import { programName } from './cli/program-name.ts'
import { runCli } from './cli/run-cli.ts'
import type { Service } from './runtime/service.ts'
import { batchLines } from './telemetry/batch-lines.ts'
import { readVersion } from './telemetry/read-version.ts'

/** Time that a stop may take; what it leaves undone is made good at the next start (G7). */
const stopTimeoutMs = 8_000
/** npm passes Ctrl-C on to a process that the terminal has already told; that is no second wish. */
const sameSignalMs = 1_000

let onReaderGone: () => void = () => {}
let outputFailure: NodeJS.ErrnoException | undefined

// A reader that went away (`pilotlight bootimages | head`) is no error of ours and nothing to talk about: the work
// goes on, and its exit code is its own. A service outlives whoever read its log, and a full disk below it.
process.stderr.on('error', () => {})
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') onReaderGone()
  else outputFailure ??= error
})

/** Heavy parts are loaded by the commands that need them, so that `--help` answers at once. */
const runtime: CliRuntime = {
  async startService(options) {
    const { startService } = await import('./runtime/start-service.ts')
    const { readInheritedSockets } = await import('./dhcp/inherited-sockets.ts')
    return startService({ ...options, inherited: readInheritedSockets(process.env, process.pid) })
  },
  async openOffline(options) {
    const { openOffline } = await import('./runtime/open-offline.ts')
    const { actAsOwner } = await import('./runtime/act-as-owner.ts')
    actAsOwner(options.loaded.config.dataDir)
    return openOffline(options)
  },
  openService: openRunningService,
  async checkKernels(options) {
    const { checkKernels } = await import('./runtime/check-kernels.ts')
    return checkKernels(options)
  },
  async gatherFacts(options) {
    const { gatherFacts } = await import('./runtime/doctor/gather-facts.ts')
    return gatherFacts(options)
  },
  async runDemo(options) {
    const { runDemo } = await import('./runtime/demo/run-demo.ts')
    const ended = new AbortController()
    onReaderGone = () => ended.abort()
    stopOnSignals(() => {
      ended.abort()
      return demo
    })
    const demo = runDemo({ ...options, signal: ended.signal })
    return demo
  },
  keepRunning,
}

/**
 * Ends the process once `stop` has finished, after SIGTERM or SIGINT, with the exit code that it returns; with 1 after
 * a defect, after a second signal and when it takes too long. The handlers are there before anything starts, because a process that is number
 * 1 in its container has no default ones.
 */
function stopOnSignals(stop: () => Promise<number>): void {
  const grace = closeWithGrace({ delay: stopTimeoutMs, skip: [...otherEvents] }, async ({ err }) => {
    if (err !== undefined) process.stderr.write(`pilotlight: unexpected error: ${err.stack ?? String(err)}\n`)
    const code = await stop()
    if (code !== 0) process.exit(code)
  })
  let stoppingSince: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince === undefined) {
      stoppingSince = Date.now()
      process.stderr.write(`pilotlight: ${signal} received, stopping\n`)
      grace.close()
    } else if (Date.now() - stoppingSince > sameSignalMs) {
      process.stderr.write(`pilotlight: second ${signal}, ending at once\n`)
      process.exit(1)
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/** What we handle ourselves or leave to Node; defects stay with close-with-grace. */
const otherEvents = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'SIGTERM',
  'beforeExit',
] as const

/** SIGTERM and SIGINT stop the service, SIGHUP reloads it. A start that fails is the caller's to report. */
async function keepRunning(
  start: () => Promise<Service>,
  onHangup: (service: Service) => Promise<void>,
): Promise<number> {
  let service: Service | undefined
  stopOnSignals(async () => {
    await service?.stop()
    return 0
  })
  process.on('SIGHUP', () => {
    if (service !== undefined) void onHangup(service)
  })
  service = await start()
  return new Promise<never>(() => {})
}

/** What aborts by Ctrl-C, SIGTERM or a reader that goes away; a second signal ends the process at once. */
function untilInterrupted(): AbortSignal {
  const ended = new AbortController()
  const end = (reason: Interruption) => ended.abort(reason)
  onReaderGone = () => end('reader-gone')
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (ended.signal.aborted) process.exit(1)
      end(name)
    })
  }
  // Neither its pauses nor an idle connection keep a process alive.
  setInterval(() => {}, 2 ** 30)
  return ended.signal
}

/** Resolves when everything that was written to stdout has left or failed. */
function isWritten(): Promise<void> {
  return new Promise((done) => process.stdout.write('', () => done()))
}

const logLines = batchLines(process.stderr)
process.on('exit', () => logLines.flush())

const code = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: createStandardInput(process.stdin, process.stderr),
  userName: userName(),
  logDestination: logLines,
  version: readVersion(),
  programName: programName({
    script: resolve(process.argv[1] ?? 'pilotlight'),
    searchPath: process.env.PATH ?? '',
  }),
  runtime,
  now: Date.now,
  untilInterrupted,
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined),
})
await isWritten()
if (outputFailure !== undefined) {
  process.stderr.write(`pilotlight: the result could not be written: ${outputFailure.message}\n`)
}
process.exit(outputFailure !== undefined && code === 0 ? 1 : code)
