import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ServiceError } from '../../src/core/errors.ts'
import type { Service } from '../../src/runtime/service.ts'
import { createCliHarness } from '../fakes/cli-harness.ts'
import { sampleToken } from '../fakes/fleet-operations.ts'
import { expectGolden } from '../fakes/golden.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-serve-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

test('without a configuration it says what it does, where, and what to type next', async () => {
  const { run } = createCliHarness({ cwd })
  const { code, stdout, stderr } = await run('serve')
  expect(code).toBe(0)
  expect(stdout).toBe('')
  expectGolden('cli/serve-without-config.txt', stderr.replaceAll(cwd, '/home/admin'))
})

test('with a configuration it names the file', async () => {
  await writeFile(join(cwd, 'pilotlight.yaml'), 'version: 1\ndataDir: d\nstreams: {}\nunknown: ignore\n')
  const { run } = createCliHarness({ cwd })
  const { stderr } = await run('serve')
  expect(stderr).toContain(join(cwd, 'pilotlight.yaml'))
  expect(stderr).toContain('machines are ignored')
  expect(stderr).toContain('pilotlight config show')
})

test('a fresh service says how to make a credential for its API, and invents none', async () => {
  const listTokens = async () => [{ ...sampleToken, revokedAt: '2026-11-28T00:00:00.000Z' }]
  const { run, operations } = createCliHarness({ cwd, answers: { fleet: { listTokens } } })
  const { stderr } = await run('serve')
  expect(stderr).toContain(
    `  pilotlight token create NAME --role write --data-dir ${cwd}/data  # to log in to the page and the API; there is none yet\n`,
  )
  expect(operations.fleet.calls.map(({ name }) => name)).toEqual(['listTokens'])
})

test.each([
  ['that has a credential', async () => [sampleToken]],
  ['that cannot be asked', () => Promise.reject(new ServiceError('STATE_UNAVAILABLE'))],
])('a service %s says nothing of it', async (_, listTokens) => {
  const { run } = createCliHarness({ cwd, answers: { fleet: { listTokens } } })
  expect((await run('serve')).stderr).not.toContain('token create')
})

test('an upstream that cannot be reached is told once, with since when and the way to the demo', async () => {
  const stream = {
    name: 'fcos-stable',
    source: 'https://builds.example/streams/stable.json',
    failingSince: '2026-11-29T11:59:00Z',
    error: { code: 'UPSTREAM_UNREACHABLE', message: 'nothing answered' },
    architectures: [],
  }
  let asked = 0
  const streams = async () => {
    asked += 1
    return asked < 3 ? [] : [stream]
  }
  const { run } = createCliHarness({
    cwd,
    answers: { streams },
    runtime: {
      async keepRunning(start) {
        await start()
        while (asked < 3) await new Promise((resolve) => setImmediate(resolve))
        return 0
      },
    },
  })
  const { stderr } = await run('serve')
  expect(stderr).toContain(
    'Stream fcos-stable cannot be read since 2026-11-29T11:59:00Z: https://builds.example/streams/stable.json: nothing answered; nothing of it is known yet',
  )
  expect(stderr).toContain('it is tried again')
  expect(stderr.match(/pilotlight demo/g)).toHaveLength(1)
})

test('SIGHUP reloads; a configuration that is not taken is logged and nothing ends', async () => {
  const outcomes = [{ changed: true }, { changed: false, error: 'pilotlight.yaml:3:1: no' }]
  const { run } = createCliHarness({
    cwd,
    answers: { reload: async () => outcomes.shift() ?? Promise.reject(new ServiceError('INTERNAL')) },
    runtime: {
      async keepRunning(start, onHangup) {
        const service = await start()
        for (let hangups = 0; hangups < 3; hangups += 1) await onHangup(service)
        return 0
      },
    },
  })
  const { code, stderr } = await run('serve')
  expect(code).toBe(0)
  const logged = stderr.split('\n').filter((line) => line.startsWith('{'))
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'info', changed: true, msg: 'configuration read again on SIGHUP' },
    { level: 'info', changed: false, error: 'pilotlight.yaml:3:1: no' },
    { level: 'error', err: { code: 'INTERNAL' } },
  ])
})

test('what the service reads on a reload is the file as it is then, and its log level counts at once', async () => {
  const file = join(cwd, 'pilotlight.yaml')
  await writeFile(file, 'version: 1\nstreams: {}\nunknown: ignore\n')
  const seen: unknown[] = []
  const { run, service } = createCliHarness({
    cwd,
    runtime: {
      async startService({ reload, log }): Promise<Service> {
        log.debug({}, 'before')
        await writeFile(file, 'version: 1\nstreams: {}\nunknown: ignore\nlog: { level: debug }\n')
        seen.push(reload().config.log.level)
        log.debug({}, 'after')
        await writeFile(file, 'version: 1\nnonsense\n')
        expect(reload).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
        return service
      },
    },
  })
  const { stderr } = await run('serve')
  expect(seen).toEqual(['debug'])
  expect(stderr).toContain('"msg":"after"')
  expect(stderr).not.toContain('"msg":"before"')
})

test('a port that is taken ends it with 69 and says which', async () => {
  const startService = () =>
    Promise.reject(new ServiceError('LISTEN_FAILED', 'the boot listener could not be opened on 0.0.0.0:80'))
  const { code, stderr } = await createCliHarness({ cwd, runtime: { startService } }).run('serve')
  expect(code).toBe(69)
  expect(stderr).toMatch(/^pilotlight: the boot listener could not be opened on 0\.0\.0\.0:80\n {2}hint: /)
})
