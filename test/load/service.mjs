import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const loopMonitor = new URL('loop-monitor.mjs', import.meta.url).href
let lastLog = 0

/**
 * Starts the built program as an admin would, with events, metrics and a log file, and waits until it is ready.
 * `withLoopMonitor` lets it tell its event-loop delay.
 */
export async function startService({
  configFile,
  directory,
  argv = [program, 'serve', '--config', configFile],
  withLoopMonitor = false,
  withinMs = 60_000,
}) {
  lastLog += 1
  const logFile = join(directory, `service-${lastLog}.log`)
  const log = openSync(logFile, 'w')
  const options = withLoopMonitor ? ['--import', loopMonitor] : []
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...options, ...argv], {
    stdio: ['ignore', log, log, 'ipc'],
  })
  const exited = once(child, 'exit')

  async function stop() {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await exited
  }

  for (;;) {
    const text = readFileSync(logFile, 'utf8')
    const bootUrl = /boot +(http:\S+)/.exec(text)?.[1]
    const adminUrl = /admin +(http:\S+)/.exec(text)?.[1]
    if (bootUrl !== undefined && adminUrl !== undefined && (await isReady(adminUrl))) {
      return {
        name: 'pilotlight',
        pid: child.pid,
        origin: bootUrl,
        adminUrl,
        readyMs: performance.now() - startedAt,
        startLoopDelay: async () => child.send('loop-delay:start'),
        async stopLoopDelay() {
          const answer = once(child, 'message')
          child.send('loop-delay:stop')
          const [delay] = await answer
          return delay
        },
        stop,
      }
    }
    if (child.exitCode !== null || performance.now() - startedAt > withinMs) {
      child.kill('SIGKILL')
      throw new Error(`the service is not ready:\n${text}`)
    }
    await sleep(5)
  }
}

async function isReady(adminUrl) {
  const response = await fetch(`${adminUrl}/readyz`).catch(() => undefined)
  await response?.arrayBuffer()
  return response?.status === 200
}
