import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, type ServiceProcess, startServiceProcess } from '../fakes/service-process.ts'

const main = resolve(import.meta.dirname, '../../dist/main.js')
const hosts = `version: 1
hosts:
  - { id: disk-node, macs: [52:54:00:00:00:11], mode: local }
  - { id: held-node, macs: [52:54:00:00:00:12], mode: hold }
`
const config = `version: 1
dataDir: data
boot: { http: { listen: "127.0.0.1:0" } }
admin: { listen: "127.0.0.1:0" }
streams: {}
unknown: ignore
hosts: { directory: hosts.d }
`

let directory: string
let file: string
let service: ServiceProcess | undefined
const killed: (() => void)[] = []

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-follow-'))
  file = join(directory, 'pilotlight.yaml')
  writeFileSync(file, config)
  mkdirSync(join(directory, 'hosts.d'))
  writeFileSync(join(directory, 'hosts.d', 'rack.yaml'), hosts)
  service = await startServiceProcess(file)
})
afterEach(async () => {
  for (const kill of killed.splice(0)) kill()
  await service?.kill()
  rmSync(directory, { recursive: true, force: true })
})

function command(...argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv, '--config', file], {
    cwd: directory,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killed.push(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    output.stdout += text
  })
  child.stderr.on('data', (text) => {
    output.stderr += text
  })
  const ended = new Promise<number | null>((done) => child.once('close', done))
  const says = (where: 'stdout' | 'stderr', words: string | RegExp) =>
    eventually(
      async () => output[where],
      (text) => (typeof words === 'string' ? text.includes(words) : words.test(text)),
    )
  return { child, output, ended, says }
}

/** A machine asks what to boot, as its iPXE does. */
async function ask(mac: string): Promise<void> {
  const query = `mac=${mac.replaceAll(':', '-')}&arch=x86_64&platform=efi`
  const response = await fetch(`${service?.bootUrl}/ipxe?${query}`)
  expect(response.status).toBe(200)
  await response.text()
}

describe('boots of the built service', () => {
  test('are followed over a crash and a restart of the service, which is told', {
    timeout: 60_000,
  }, async () => {
    const followed = command('boots', '--follow')
    // It has begun to listen when it shows a boot that it did not see begin.
    await ask('52:54:00:00:00:12')
    await followed.says('stdout', 'held-node  running in script')
    await service?.kill('SIGKILL')
    await followed.says('stderr', 'going on when the service answers again')
    service = await startServiceProcess(file)
    await followed.says('stderr', 'the service answers again')
    await ask('52:54:00:00:00:11')
    await followed.says('stdout', /disk-node {2}local/)
    followed.child.kill('SIGINT')
    expect(await followed.ended).toBe(130)
    // What was told is not told again.
    const lines = followed.output.stdout.trimEnd().split('\n')
    expect(new Set(lines).size, followed.output.stdout).toBe(lines.length)
  })

  test('JSON is one object a line', async () => {
    const followed = command('boots', '--follow', '--output', 'json')
    await ask('52:54:00:00:00:12')
    await followed.says('stdout', '\n')
    const [line = ''] = followed.output.stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ host: 'held-node', state: 'running' })
  })

  test('watch ends with the boot, by its outcome', async () => {
    const watched = command('watch', 'disk-node')
    await watched.says('stderr', 'waiting for disk-node to boot')
    await ask('52:54:00:00:00:11')
    expect(await watched.ended).toBe(0)
    expect(watched.output.stdout).toMatch(/disk-node: local after /)
  })

  test('watch gives up when it is told to, and ends by Ctrl-C', async () => {
    await ask('52:54:00:00:00:12')
    const timed = command('watch', '52:54:00:00:00:12', '--timeout', '1s')
    expect(await timed.ended).toBe(75)
    const stopped = command('watch', 'held-node')
    await stopped.says('stdout', 'boot ')
    stopped.child.kill('SIGINT')
    expect(await stopped.ended).toBe(130)
    expect(stopped.output.stderr).toBe('')
  })

  test('a reader that goes away ends what follows', async () => {
    const followed = command('boots', '--follow')
    await ask('52:54:00:00:00:12')
    await followed.says('stdout', 'held-node')
    followed.child.stdout.destroy()
    await ask('52:54:00:00:00:11')
    expect(await followed.ended).toBe(0)
  })
})
