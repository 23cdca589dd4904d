import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

/** The built program; `npm test` builds it first. */
const main = resolve(import.meta.dirname, '../../dist/main.js')
const isBuilt = existsSync(main)
if (!isBuilt)
  process.stderr.write('test/wire/command-line.test.ts: dist/main.js is not built, its tests are skipped\n')

describe.skipIf(!isBuilt)('the program as a process', () => {
  let cwd: string
  const children: ChildProcess[] = []

  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'pilotlight-main-'))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await rm(cwd, { recursive: true, force: true })
  })

  function start(...argv: string[]) {
    const child = spawn(process.execPath, [main, ...argv], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.stderr += chunk
    })
    const ended = new Promise<number | NodeJS.Signals | null>((resolveEnd) => {
      child.once('close', (code, signal) => resolveEnd(code ?? signal))
    })
    const said = (words: string) =>
      new Promise<void>((resolveSaid, reject) => {
        const look = () => {
          if (output.stderr.includes(words)) resolveSaid()
        }
        child.stderr.on('data', look)
        child.once('close', () => reject(new Error(`ended without saying ${words}: ${output.stderr}`)))
        look()
      })
    return { child, output, ended, said }
  }

  /** A service with nothing to follow, on free ports. */
  async function serve() {
    await writeFile(
      join(cwd, 'pilotlight.yaml'),
      'version: 1\ndataDir: data\nboot: { http: { listen: "127.0.0.1:0" } }\nadmin: { listen: "127.0.0.1:0" }\nstreams: {}\nunknown: ignore\n',
    )
    const service = start('serve')
    await service.said('Next, in another terminal')
    return service
  }

  test('an ordinary command prints its result and ends with 0', async () => {
    const { output, ended } = start('version')
    expect(await ended).toBe(0)
    expect(output.stdout).toMatch(/^pilotlight {2}\d+\.\d+\.\d+\n/)
    expect(output.stderr).toBe('')
  })

  test('a usage error ends with 2', async () => {
    const { output, ended } = start('nonsense')
    expect(await ended).toBe(2)
    expect(output.stderr).toMatch(/^pilotlight: unknown command/)
  })

  test('a reader that went away is no error', async () => {
    const { child, output, ended } = start('config', 'reference')
    child.stdout.destroy()
    expect(await ended).toBe(0)
    expect(output.stderr).toBe('')
  })

  test('a result that cannot be written is an error, and no stack', async () => {
    const full = openSync('/dev/full', 'w')
    try {
      for (const argv of [['version'], ['config', 'reference']]) {
        const { status, stderr } = spawnSync(process.execPath, [main, ...argv], {
          cwd,
          stdio: ['ignore', full, 'pipe'],
          encoding: 'utf8',
        })
        expect({ status, stderr }).toEqual({
          status: 1,
          stderr: expect.stringMatching(/^pilotlight: the result could not be written: ENOSPC[^\n]*\n$/),
        })
      }
    } finally {
      closeSync(full)
    }
  })

  test('what serve says to type next works from any directory', async () => {
    const { output } = await serve()
    const [token, streams] = output.stderr.split('Next, in another terminal:\n')[1]?.split('\n') ?? []
    const type = (line: string | undefined) => {
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `${line}`], {
        cwd: tmpdir(),
        env: { PATH: dirname(process.execPath) },
        encoding: 'utf8',
      })
      return { status, stdout, stderr }
    }
    expect(type(token)).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^plt_\S+\n$/),
      stderr: expect.stringContaining('token NAME'),
    })
    expect(type(streams)).toEqual({ status: 0, stdout: expect.stringMatching(/^STREAM/), stderr: '' })
  })

  test('a command that only asks makes no data directory, and says what to do', async () => {
    const { output, ended } = start('streams', '--data-dir', join(cwd, 'none/data'))
    expect(await ended).toBe(78)
    expect(output.stderr).toMatch(/nothing is kept in .*none\/data yet[\s\S]*pilotlight serve/)
    expect(existsSync(join(cwd, 'none'))).toBe(false)
  })

  test('a bad edit on disk does not part a command from its service', async () => {
    await serve()
    await appendFile(join(cwd, 'pilotlight.yaml'), 'nonsense: [\n')
    const { output, ended } = start('streams')
    expect(await ended).toBe(0)
    expect(output.stderr).toMatch(/^warning: the running service .* is asked[\s\S]*pilotlight\.yaml:\d+:\d+/)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops the service cleanly', async (signal) => {
    const { child, output, ended } = await serve()
    expect(existsSync(join(cwd, 'data/control.sock'))).toBe(true)
    child.kill(signal)
    expect(await ended).toBe(0)
    expect(output.stderr).toContain(`pilotlight: ${signal} received, stopping`)
    expect(existsSync(join(cwd, 'data/control.sock'))).toBe(false)
  })

  test('Ctrl-C below npm, which arrives twice, still stops it cleanly', async () => {
    const { child, output, ended } = await serve()
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(output.stderr.match(/received, stopping/g)).toHaveLength(1)
  })

  test('SIGHUP reloads, and the service goes on', async () => {
    const { child, said, ended } = await serve()
    child.kill('SIGHUP')
    await said('configuration read again on SIGHUP')
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('a command asks the running service, and a second service is told to try again', async () => {
    await serve()
    const streams = start('streams', '--output', 'json')
    expect(await streams.ended).toBe(0)
    expect(JSON.parse(streams.output.stdout)).toEqual({ streams: [] })
    const second = start('serve')
    expect(await second.ended).toBe(75)
    expect(second.output.stderr).toMatch(/^pilotlight: .*in use/m)
  })

  test('G7 after kill -9 the next service takes the socket and the lock over', async () => {
    const first = await serve()
    first.child.kill('SIGKILL')
    expect(await first.ended).toBe('SIGKILL')
    expect(existsSync(join(cwd, 'data/control.sock'))).toBe(true)
    await serve()
    const streams = start('streams', '--output', 'json')
    expect(await streams.ended).toBe(0)
  })

  test('a service outlives whoever read its log', async () => {
    const { child, ended } = await serve()
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill('SIGHUP')
    const streams = start('streams')
    expect(await streams.ended).toBe(0)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
