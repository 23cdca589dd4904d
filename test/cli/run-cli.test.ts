import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { errorTexts, ServiceError } from '../../src/core/errors.ts'
import { silentLog } from '../../src/core/log.ts'
import { listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createCliHarness, type HarnessOptions } from '../fakes/cli-harness.ts'
import { expectGolden } from '../fakes/golden.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-cli-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

function harness(options: Omit<HarnessOptions, 'cwd'> = {}) {
  return createCliHarness({ cwd, ...options })
}

/** Every command with an ordinary result, and the operation that it asks for. */
const commandLines = [
  ['streams', ['streams']],
  ['bootimages', ['bootimages']],
  ['loaders', ['loaders']],
  ['explain', ['explain', '--mac', '52:54:00:ab:cd:ef']],
  ['render', ['render', '--mac', '52:54:00:ab:cd:ef', '--arch', 'x86_64']],
  ['sync', ['sync']],
  ['verify', ['verify']],
  ['gc', ['gc', '--dry-run']],
  ['import', ['import', 'document.json', '--stream', 'fcos-stable']],
  ['doctor', ['doctor']],
  ['boots', ['boots', '--host', 'rack1-n01']],
  ['boots-show', ['boots', 'show', 'rack1-n01']],
  ['patterns', ['patterns']],
  ['version', ['version']],
  ['config-check', ['config', 'check']],
] as const

describe('every command with an ordinary result', () => {
  beforeEach(async () => {
    await writeFile(join(cwd, 'document.json'), '{"stream": "stable"}')
  })

  test.each(commandLines)('%s prints a table for people', async (name, argv) => {
    const { code, stdout, stderr } = await harness().run(...argv)
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expectGolden(`cli/${name}.txt`, stdout.replaceAll(process.versions.node, 'NODE'))
  })

  test.each(commandLines)('%s prints JSON for programs', async (name, argv) => {
    const { code, stdout, stderr } = await harness().run(...argv, '--output', 'json')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(() => JSON.parse(stdout)).not.toThrow()
    expectGolden(`cli/${name}.json`, stdout.replaceAll(process.versions.node, 'NODE'))
  })
})

describe('help', () => {
  const commands = [
    'serve',
    'demo',
    'streams',
    'bootimages',
    'loaders',
    'explain',
    'render',
    'sync',
    'import',
    'verify',
    'gc',
    'doctor',
    'host',
    'group',
    'profile',
    'boots',
    'watch',
    'patterns',
    'capture',
    'reports',
    'pin',
    'unpin',
    'pins',
    'install',
    'installs',
    'local',
    'live',
    'hold',
    'release',
    'token',
    'webhook',
    'audit',
    'backup',
    'restore',
  ]

  test.each([[], ...[...commands, 'config', 'version'].map((name) => [name])])(
    '%s --help is as documented',
    async (...path) => {
      const { code, stdout, stderr } = await harness().run(...path, '--help')
      expect(code).toBe(0)
      expect(stderr).toBe('')
      expectGolden(`cli/help${path.map((name) => `-${name}`).join('')}.txt`, stdout)
    },
  )

  test('every command that does something has an example', async () => {
    for (const name of [...commands, 'config', 'version'])
      expect((await harness().run(name, '--help')).stdout).toContain('Examples:\n  $ pilotlight ')
  })

  test.each([
    ...['list', 'show', 'add', 'set', 'rm', 'seen', 'adopt', 'import', 'export'].map((name) => [
      'host',
      name,
    ]),
    ...['list', 'show', 'set', 'rm'].map((name) => ['group', name]),
    ...['list', 'show', 'set', 'rm'].map((name) => ['profile', name]),
    ...['create', 'list', 'revoke', 'revoke-boot'].map((name) => ['token', name]),
    ['boots', 'show'],
    ['webhook', 'list'],
    ['webhook', 'test'],
  ])('%s %s has an example of itself', async (...path) => {
    const { code, stdout } = await harness().run(...path, '--help')
    expect(code).toBe(0)
    expect(stdout).toContain(`Examples:\n  $ pilotlight ${path.join(' ')}`)
  })

  test('no command at all shows the help and is a usage error', async () => {
    const { code, stdout, stderr } = await harness().run()
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain('Usage: pilotlight')
  })
})

describe('a command line that is not understood', () => {
  test.each([
    ['an unknown command', ['stream'], /unknown command 'stream'[\s\S]*streams/],
    ['an unknown option', ['gc', '--dryrun'], /unknown option '--dryrun'[\s\S]*--dry-run/],
    ['an unknown output format', ['streams', '-o', 'yaml'], /table, json/],
    ['an unknown template', ['render', '--mac', 'x', '--template', 'grub'], /entry, live, install/],
    ['an unknown dialect', ['render', '--mac', 'x', '--dialect', 'lilo'], /ipxe, grub, pxelinux/],
    ['a missing argument', ['import', '--stream', 's'], /missing required argument 'file'/],
    ['a missing option', ['import', 'x'], /--stream/],
    ['too many arguments', ['gc', 'now'], /too many arguments/],
    ['a port that is none', ['demo', '--port', '70000'], /65535/],
    ['a machine that nothing names', ['explain', '--arch', 'x86_64'], /which machine\?[\s\S]*--mac/],
    ['an unknown architecture', ['bootimages', '--arch', 'mips'], /mips[\s\S]*x86_64/],
    [
      'a document that is not there',
      ['import', 'nothing.json', '--stream', 's'],
      /nothing\.json cannot be read/,
    ],
  ])('%s exits with 2, says what is possible and touches nothing', async (_, argv, words) => {
    const { run, opened, operations } = harness()
    const { code, stdout, stderr } = await run(...argv)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(words)
    expect(stderr).toMatch(/^pilotlight: /)
    expect(stderr).not.toContain('    at ')
    expect([...opened, ...operations.calls]).toEqual([])
  })
})

describe('exit codes of failures', () => {
  test.each(Object.keys(errorTexts) as (keyof typeof errorTexts)[])(
    '%s is reported without a stack',
    async (error) => {
      const { run } = harness({ answers: { streams: () => Promise.reject(new ServiceError(error)) } })
      const { code, stdout, stderr } = await run('streams')
      expect([1, 2, 69, 75, 77, 78]).toContain(code)
      expect(stdout).toBe('')
      expect(stderr).toContain(`pilotlight: ${errorTexts[error]}`)
      expect(stderr).not.toContain('    at ')
    },
  )

  test('a defect of ours exits with 1, and PILOTLIGHT_DEBUG shows where', async () => {
    const answers = { streams: () => Promise.reject(new TypeError('boom')) }
    const { code, stderr } = await harness({ answers }).run('streams')
    expect(code).toBe(1)
    expect(stderr).toContain('unexpected error: TypeError: boom')
    expect(stderr).not.toContain('    at ')
    const debugged = await harness({ answers, env: { PILOTLIGHT_DEBUG: '1' } }).run('streams')
    expect(debugged.stderr).toContain('    at ')
  })

  test('a held data directory is 75 and says to try again', async () => {
    const openOffline = () => Promise.reject(new ServiceError('DATA_DIRECTORY_LOCKED'))
    const { code, stderr } = await harness({ runtime: { openOffline } }).run('verify')
    expect(code).toBe(75)
    expect(stderr).toMatch(/try again/)
  })

  test('the data directory is closed also when the work fails', async () => {
    const { run, closedCount } = harness({
      answers: { gc: () => Promise.reject(new ServiceError('STORAGE_FAILED')) },
    })
    expect((await run('gc')).code).toBe(1)
    expect(closedCount()).toBe(1)
  })

  test('an unreadable file to import is 77', async () => {
    // Root reads everything; a directory stands for "cannot be read" there.
    if (process.getuid?.() === 0) {
      await mkdir(join(cwd, 'closed.json'))
      expect((await harness().run('import', 'closed.json', '--stream', 's')).code).toBe(2)
    } else {
      await writeFile(join(cwd, 'closed.json'), '{}', { mode: 0o000 })
      expect((await harness().run('import', 'closed.json', '--stream', 's')).code).toBe(77)
    }
  })
})

describe('results that are not good', () => {
  test('verify exits with 1 and names each bad file', async () => {
    const verify = async () => ({
      checked: 2,
      bytes: 10,
      bad: [{ sha256: 'd'.repeat(64), reason: 'other digest' }],
    })
    const { code, stdout } = await harness({ answers: { verify } }).run('verify')
    expect(code).toBe(1)
    expect(stdout).toContain(`${'d'.repeat(64)}  other digest`)
    expect(stdout).toContain('2 files (10 B) checked, 1 bad')
  })

  test('loaders exits with 1 when a Secure Boot set cannot boot, and says why', async () => {
    const set = { name: 'fedora', directory: '/srv/fedora' }
    const report = { loaders: [], refused: [], missing: [] }
    const without = { ...set, architectures: [], problems: ['grubx64.efi is not signed'], streams: [] }
    const first = harness({ answers: { loaders: async () => ({ ...report, sets: [without] }) } })
    const { code, stdout } = await first.run('loaders')
    expect(code).toBe(1)
    expect(stdout).toContain('  fedora  /srv/fedora: boots nothing\n    grubx64.efi is not signed\n')
    const stream = { stream: 's', arch: 'x86_64', release: '44.1', problem: 'is not signed' } as const
    const strange = { ...set, architectures: ['x86_64' as const], problems: [], streams: [stream] }
    const second = harness({ answers: { loaders: async () => ({ ...report, sets: [strange] }) } })
    expect(await second.run('loaders')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('    s 44.1 for x86_64: its kernel is not signed\n'),
    })
  })

  test('gc that may not remove anything yet exits with 75 and says why', async () => {
    const gc = async () => ({
      dryRun: false,
      removed: [],
      freedBytes: 0,
      kept: 3,
      postponed: 'boots may be running',
    })
    const { code, stdout } = await harness({ answers: { gc } }).run('gc')
    expect(code).toBe(75)
    expect(stdout).toContain('postponed: boots may be running')
  })

  test.each([
    ['an upstream that is gone', { outcome: 'failed', code: 'UPSTREAM_UNREACHABLE', bootimages: [] }, 69],
    ['a failure without a code', { outcome: 'failed', bootimages: [] }, 1],
    ['a wrong digest', { bootimages: [{ id: 'x', state: 'failed', code: 'ARTIFACT_DIGEST_MISMATCH' }] }, 1],
    ['no location', { bootimages: [{ id: 'x', state: 'failed', code: 'ARTIFACT_UNAVAILABLE' }] }, 69],
    ['still being fetched', { bootimages: [{ id: 'x', state: 'downloading' }] }, 75],
    ['held', { bootimages: [{ id: 'x', state: 'held' }] }, 0],
    [
      'a part that is refused',
      { notes: [{ kind: 'refused' }], bootimages: [{ id: 'x', state: 'ready' }] },
      1,
    ],
    ['a change that a policy holds', { notes: [{ kind: 'not-followed' }], bootimages: [] }, 0],
    [
      'several things at once: what needs a person counts',
      {
        outcome: 'failed',
        code: 'UPSTREAM_UNREACHABLE',
        bootimages: [
          { id: 'x', state: 'downloading' },
          { id: 'y', state: 'failed', code: 'SIGNATURE_INVALID' },
        ],
      },
      1,
    ],
  ])('sync with %s', async (_, stream, expected) => {
    const sync = async () => ({ streams: [{ name: 'a', outcome: 'updated', notes: [], ...stream } as never] })
    expect((await harness({ answers: { sync } }).run('sync')).code).toBe(expected)
  })
})

describe('what a command passes on', () => {
  test.each([
    ['sync a b', { name: 'sync', argument: { streams: ['a', 'b'] } }],
    ['sync', { name: 'sync', argument: {} }],
    ['gc', { name: 'gc', argument: { dryRun: false } }],
    [
      'bootimages --stream a --arch arm64',
      { name: 'bootimages', argument: { stream: 'a', arch: 'aarch64' } },
    ],
    [
      'explain --host n01 --arch aarch64 --platform efi',
      { name: 'explain', argument: { host: 'n01', arch: 'aarch64', platform: 'efi' } },
    ],
    [
      'render --host n01 --template install --base-url http://192.0.2.1',
      {
        name: 'render',
        argument: { host: 'n01', dialect: 'ipxe', template: 'install', baseUrl: 'http://192.0.2.1' },
      },
    ],
    ['render --template entry', { name: 'render', argument: { dialect: 'ipxe', template: 'entry' } }],
    ['render --host n01 --dialect grub', { name: 'render', argument: { host: 'n01', dialect: 'grub' } }],
    ['loaders', { name: 'loaders', argument: undefined }],
  ])('%s', async (line, call) => {
    const { run, operations } = harness()
    expect((await run(...line.split(' '))).code).toBe(0)
    expect(operations.calls).toContainEqual(call)
  })

  test('import passes the text and the name of the file', async () => {
    await mkdir(join(cwd, 'old'))
    await writeFile(join(cwd, 'old/rhcos.json'), '{"a":1}')
    const { run, operations } = harness()
    await run('import', 'old/rhcos.json', '--stream', 'rhcos-4.16')
    expect(operations.calls).toEqual([
      { name: 'importDocument', argument: { stream: 'rhcos-4.16', name: 'rhcos.json', text: '{"a":1}' } },
    ])
  })

  test('demo gets its options and its exit code is ours', async () => {
    const { run, demos } = harness({ runtime: {} })
    expect((await run('demo', '--once', '--port', '9000')).stdout).toBe('story\n')
    expect(demos).toMatchObject([{ once: true, port: 9000 }])
    const failing = harness({ runtime: { runDemo: async () => 1 } })
    expect((await failing.run('demo')).code).toBe(1)
  })
})

describe('configuration', () => {
  test('without a file the start defaults hold', async () => {
    const { run, opened } = harness()
    await run('streams')
    expect(opened[0]?.config.dataDir).toBe(join(cwd, 'data'))
    expect([...(opened[0]?.config.streams.keys() ?? [])]).toEqual(['fcos-stable'])
  })

  test('flag wins over environment wins over file', async () => {
    await writeFile(
      join(cwd, 'pilotlight.yaml'),
      'version: 1\ndataDir: from-file\nstreams: {}\nunknown: ignore\n',
    )
    const byFile = harness()
    await byFile.run('streams')
    expect(byFile.opened[0]?.config.dataDir).toBe(join(cwd, 'from-file'))
    const byEnv = harness({ env: { PILOTLIGHT_DATA_DIR: 'from-env' } })
    await byEnv.run('streams')
    expect(byEnv.opened[0]?.config.dataDir).toBe(join(cwd, 'from-env'))
    const byFlag = harness({ env: { PILOTLIGHT_DATA_DIR: 'from-env' } })
    await byFlag.run('streams', '--data-dir', 'from-flag')
    expect(byFlag.opened[0]?.config.dataDir).toBe(join(cwd, 'from-flag'))
  })

  test('serve takes every setting as a flag', async () => {
    const { run, opened } = harness()
    expect((await run('serve', '--boot-http-listen', '127.0.0.1:9080', '--admin-listen', ':9081')).code).toBe(
      0,
    )
    expect(opened[0]?.config.boot.http.listen).toEqual({ host: '127.0.0.1', port: 9080 })
    expect(opened[0]?.config.admin.listen.port).toBe(9081)
  })

  test('a mistake is 78 with file, line, column and what is allowed', async () => {
    await writeFile(
      join(cwd, 'pilotlight.yaml'),
      'version: 1\nstreams: {}\nunknown: ignore\nboot:\n  htpp: {}\n',
    )
    for (const argv of [['streams'], ['serve'], ['config', 'check'], ['config', 'show']]) {
      const { code, stdout, stderr } = await harness().run(...argv)
      expect(code).toBe(78)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/pilotlight\.yaml:5:3: .*htpp/)
      expect(stderr).toMatch(/http/)
    }
  })

  test('config check --output json lists the problems as data', async () => {
    await writeFile(
      join(cwd, 'pilotlight.yaml'),
      'version: 1\nstreams: {}\nunknown: ignore\nboot:\n  htpp: {}\n',
    )
    const { code, stdout } = await harness().run('config', 'check', '-o', 'json')
    expect(code).toBe(78)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [{ file: 'pilotlight.yaml', line: 5, column: 3 }],
    })
  })

  test('a named file that is not there is 78', async () => {
    const { code, stderr } = await harness().run('streams', '--config', 'nothing.yaml')
    expect(code).toBe(78)
    expect(stderr).toMatch(/nothing\.yaml/)
  })

  test('config show names the origin of each value', async () => {
    await writeFile(join(cwd, 'pilotlight.yaml'), 'version: 1\nstreams: {}\nunknown: ignore\n')
    const { code, stdout } = await harness({ env: { PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:9' } }).run(
      'config',
      'show',
      '--boot-http-listen',
      ':8080',
      '-o',
      'json',
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout).values).toEqual(
      expect.arrayContaining([
        { path: 'boot.http.listen', value: ':8080', origin: '--boot-http-listen' },
        { path: 'admin.listen', value: '127.0.0.1:9', origin: 'environment PILOTLIGHT_ADMIN_LISTEN' },
        { path: 'unknown', value: 'ignore', origin: 'pilotlight.yaml:3' },
        { path: 'log.level', value: 'info', origin: 'default' },
      ]),
    )
  })

  test('config reference is Markdown for people and schemas for programs', async () => {
    const text = await harness().run('config', 'reference')
    expect(text.stdout).toContain('| `boot.http.listen` |')
    const json = await harness().run('config', 'reference', '-o', 'json')
    expect(JSON.parse(json.stdout).config.properties).toHaveProperty('streams')
  })

  test('PILOTLIGHT_DEBUG is no setting, another unknown variable is warned about', async () => {
    const quiet = await harness({ env: { PILOTLIGHT_DEBUG: '1' } }).run('config', 'check')
    expect(quiet.stderr).toBe('')
    const { stderr } = await harness({ env: { PILOTLIGHT_DATADIR: 'x' } }).run('config', 'check')
    expect(stderr).toContain('PILOTLIGHT_DATADIR')
  })
})

describe('how it looks', () => {
  test('colour only on a terminal that wants it', async () => {
    expect((await harness({ isTTY: true }).run('streams')).stdout).toContain('\u001b[1m')
    expect((await harness({ isTTY: true, env: { NO_COLOR: '1' } }).run('streams')).stdout).not.toContain(
      '\u001b',
    )
    expect((await harness({ isTTY: true, env: { TERM: 'dumb' } }).run('streams')).stdout).not.toContain(
      '\u001b',
    )
    expect((await harness().run('streams')).stdout).not.toContain('\u001b')
  })

  test('a table fits the terminal where it can', async () => {
    const streams = async () => [
      {
        name: 'a',
        source: 's',
        error: { code: 'UPSTREAM_UNREACHABLE', message: 'x'.repeat(300) },
        architectures: [],
      },
    ]
    const { stdout } = await harness({ isTTY: true, columns: 80, answers: { streams } }).run('streams')
    for (const line of stdout.split('\n').slice(1)) expect([...line].length).toBeLessThanOrEqual(80)
  })
})

describe('a running service', () => {
  test('is asked over its control socket, and the data directory is left alone', async () => {
    await mkdir(join(cwd, 'data'))
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
    const socket = await listenControlSocket({ app, path: join(cwd, 'data/control.sock') })
    try {
      const { run, opened } = harness()
      const { code, stdout } = await run('streams')
      expect(code).toBe(0)
      expect(stdout).toContain('fcos-stable')
      expect((await run('gc')).code).toBe(0)
      expect(operations.calls.map(({ name }) => name)).toEqual(['streams', 'gc'])
      expect(opened).toEqual([])
    } finally {
      await socket.close()
    }
  })

  test('that opens its socket between our look and our lock is asked after all', async () => {
    await mkdir(join(cwd, 'data'))
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
    let close = async () => {}
    const openOffline = async () => {
      const socket = await listenControlSocket({ app, path: join(cwd, 'data/control.sock') })
      close = () => socket.close()
      throw new ServiceError('DATA_DIRECTORY_LOCKED')
    }
    try {
      expect((await harness({ runtime: { openOffline } }).run('verify')).code).toBe(0)
      expect(operations.calls.map(({ name }) => name)).toEqual(['verify'])
    } finally {
      await close()
    }
  })
})
