import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDataDir } from '../../src/config/find-data-dir.ts'
import { silentLog } from '../../src/core/log.ts'
import { listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createCliHarness } from '../fakes/cli-harness.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-bad-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

/** A service that answers in `<cwd>/d`, while the test runs. */
async function withService<T>(work: (calls: readonly { readonly name: string }[]) => Promise<T>): Promise<T> {
  await mkdir(join(cwd, 'd'), { mode: 0o700 })
  const operations = createFakeOperations()
  const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
  const app = createAdminApp({
    operations,
    metrics,
    log: silentLog,
    version: '1',
    clock: { now: () => 0 },
    timers: createManualTime(),
    access: 'control',
  })
  const socket = await listenControlSocket({ app, path: join(cwd, 'd/control.sock') })
  try {
    return await work(operations.calls)
  } finally {
    await socket.close()
  }
}

describe('a command beside a running service, with a bad edit on disk', () => {
  it.each([
    ['another key is wrong', 'version: 1\ndataDir: d\nboot: { htpp: {} }\n', []],
    ['it is no YAML', 'version: 1\ndataDir: d # here\nboot: {\n', []],
    ['the directory is a flag', 'version: 1\nnonsense: 1\n', ['--data-dir', 'd']],
  ])('asks the service and warns: %s', async (_, text, options) => {
    await writeFile(join(cwd, 'pilotlight.yaml'), text)
    await withService(async (calls) => {
      const { run, opened } = createCliHarness({ cwd })
      const { code, stdout, stderr } = await run('streams', ...options)
      expect(code).toBe(0)
      expect(stdout).toContain('fcos-stable')
      expect(stderr).toMatch(/^warning: the running service in .*\/d is asked/)
      expect(stderr).toMatch(/\nwarning: the configuration is not valid/)
      expect(stderr).toMatch(/pilotlight\.yaml:\d+:\d+/)
      expect(calls.map(({ name }) => name)).toEqual(['streams'])
      expect(opened).toEqual([])
    })
  })

  it('asks nobody where no service runs, or where the named file is not there', async () => {
    await writeFile(join(cwd, 'pilotlight.yaml'), 'version: 1\ndataDir: d\nnonsense: 1\n')
    expect((await createCliHarness({ cwd }).run('streams')).code).toBe(78)
    await withService(async (calls) => {
      const { code, stderr } = await createCliHarness({ cwd }).run('gc', '--config', 'nothing.yaml')
      expect(code).toBe(78)
      expect(stderr).toMatch(/nothing\.yaml does not exist/)
      expect(calls).toEqual([])
    })
  })
})

describe('the data directory of a configuration that cannot be loaded', () => {
  const find = async (
    text: string,
    more: { flags?: Record<string, string>; env?: Record<string, string> } = {},
  ) => {
    const file = join(cwd, 'sub', 'p.yaml')
    await mkdir(join(cwd, 'sub'), { recursive: true })
    await writeFile(file, text)
    return findDataDir({ file, flags: {}, env: {}, cwd, ...more })?.replace(cwd, '')
  }

  it.each([
    ['in a file that is YAML', 'dataDir: d\nx: 1\n', '/sub/d'],
    ['in a mapping on one line', '{ dataDir: d, x: 1 }\n', '/sub/d'],
    ['in a broken file, plain', 'a: [\ndataDir: my data  # note\n', '/sub/my data'],
    ['in a broken file, in quotes', 'a: [\ndataDir: "/srv/x"\n', '/srv/x'],
    ['in a broken file, in single quotes', "a: [\n'dataDir': '/srv/y'\n", '/srv/y'],
    ['nowhere: the default', 'x: 1\n', '/var/lib/pilotlight'],
    ['as something else', 'dataDir: [a]\n', undefined],
    ['deeper down, which is another key', 'a: [\n  dataDir: d\n', '/var/lib/pilotlight'],
  ])('%s', async (_, text, expected) => {
    expect(await find(text)).toBe(expected)
  })

  it('flag before environment before file', async () => {
    const env = { PILOTLIGHT_DATA_DIR: 'e' }
    expect(await find('dataDir: d\n', { env })).toBe('/e')
    expect(await find('dataDir: d\n', { env, flags: { dataDir: 'f' } })).toBe('/f')
  })

  it('without a file the one of the start defaults; of a file that is not there none', () => {
    expect(findDataDir({ flags: {}, env: {}, cwd })).toBe(join(cwd, 'data'))
    expect(findDataDir({ file: join(cwd, 'no.yaml'), flags: {}, env: {}, cwd })).toBeUndefined()
  })
})
