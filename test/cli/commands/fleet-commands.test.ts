import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { ChangeOptions } from '../../../src/http/admin/fleet-operations.ts'
import { createCliHarness, type HarnessOptions } from '../../fakes/cli-harness.ts'
import { type FleetCall, sampleInstall } from '../../fakes/fleet-operations.ts'
import { expectGolden } from '../../fakes/golden.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-fleet-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

const harness = (options: Omit<HarnessOptions, 'cwd'> = {}) => createCliHarness({ cwd, ...options })

const actor = { by: 'alice', via: 'control' } as const
const host = { kind: 'host', name: 'rack1-n01' } as const
const edge = { kind: 'group', name: 'edge' } as const
const byAlice: ChangeOptions = { actor }

/** Golden file, command line, and what is asked of the operations. */
const commandLines: readonly (readonly [string, readonly string[], readonly FleetCall[]])[] = [
  [
    'host-list',
    ['host', 'list', '--label', 'site=edge', '--mode', 'live'],
    [{ name: 'listHosts', arguments: [{ label: 'site=edge', mode: 'live', limit: 1000 }] }],
  ],
  ['host-show', ['host', 'show', 'rack1-n01'], [{ name: 'showHost', arguments: ['rack1-n01'] }]],
  [
    'host-add',
    ['host', 'add', 'n7', '--mac', '525400000007', '--label', 'site=edge', '--profile', 'worker'],
    [
      {
        name: 'putHost',
        arguments: [
          'n7',
          { spec: { macs: ['525400000007'], labels: { site: 'edge' }, profile: 'worker' } },
          { actor, ifRevision: 0 },
        ],
      },
    ],
  ],
  [
    'host-set',
    ['host', 'set', 'rack1-n01', '--set', 'install.device=/dev/sda', '--unset', 'profile', '--reason', 'x'],
    [
      { name: 'showHost', arguments: ['rack1-n01'] },
      {
        name: 'putHost',
        arguments: [
          'rack1-n01',
          {
            spec: { macs: ['52:54:00:ab:cd:ef'], labels: { site: 'edge' }, install: { device: '/dev/sda' } },
            reason: 'x',
          },
          { actor, ifRevision: 7 },
        ],
      },
    ],
  ],
  [
    'host-rm',
    ['host', 'rm', 'n7', '--reason', 'sold', '--if-revision', '3'],
    [{ name: 'removeHost', arguments: ['n7', { actor, ifRevision: 3, reason: 'sold' }] }],
  ],
  ['host-seen', ['host', 'seen'], [{ name: 'listSeen', arguments: [{ limit: 1000 }] }]],
  [
    'host-adopt',
    ['host', 'adopt', '52-54-00-00-00-01', '--id', 'n7', '--profile', 'worker'],
    [
      {
        name: 'adoptHost',
        arguments: [{ mac: '52-54-00-00-00-01', id: 'n7', spec: { profile: 'worker' } }, byAlice],
      },
    ],
  ],
  [
    'host-import',
    ['host', 'import', 'fleet.yaml', '--replace'],
    [
      {
        name: 'importRecords',
        arguments: [{ text: 'version: 1\nhosts: []\n', name: 'fleet.yaml', mode: 'replace' }, byAlice],
      },
    ],
  ],
  ['host-export', ['host', 'export', '--all'], [{ name: 'exportRecords', arguments: [{ all: true }] }]],
  ['group-list', ['group', 'list'], [{ name: 'listRecords', arguments: ['group'] }]],
  ['group-show', ['group', 'show', 'edge'], [{ name: 'showRecord', arguments: ['group', 'edge'] }]],
  [
    'profile-set',
    ['profile', 'set', 'worker', '--set', 'kernelArguments=[console=ttyS0]'],
    [
      { name: 'showRecord', arguments: ['profile', 'worker'] },
      {
        name: 'putRecord',
        arguments: [
          'profile',
          'worker',
          {
            spec: {
              match: { labels: { site: 'edge' } },
              profile: 'worker',
              kernelArguments: ['console=ttyS0'],
            },
          },
          { actor, ifRevision: 2 },
        ],
      },
    ],
  ],
  ['group-rm', ['group', 'rm', 'edge'], [{ name: 'removeRecord', arguments: ['group', 'edge', byAlice] }]],
  [
    'pin',
    ['pin', 'rack1-n01', '44.1', '--arch', 'arm64', '--reason', 'NIC', '--until', '48h'],
    [
      {
        name: 'setPin',
        arguments: [{ target: host, arch: 'aarch64', release: '44.1', reason: 'NIC', until: '48h' }, byAlice],
      },
    ],
  ],
  [
    'pin-group',
    ['pin', '--group', 'edge', 'current', '--stream', 'fcos-testing'],
    [
      {
        name: 'setPin',
        arguments: [{ target: edge, stream: 'fcos-testing', release: 'current' }, byAlice],
      },
    ],
  ],
  [
    'pins',
    ['pins', '--host', 'rack1-n01'],
    [{ name: 'listPins', arguments: [{ host: 'rack1-n01', limit: 1000 }] }],
  ],
  [
    'unpin',
    ['unpin', '--group', 'edge', '--reason', 'fixed'],
    [{ name: 'removePin', arguments: [{ target: edge, reason: 'fixed' }, byAlice] }],
  ],
  [
    'install-done',
    ['install', 'rack1-n01', '--done'],
    [{ name: 'endInstall', arguments: [{ host: 'rack1-n01', as: 'installed' }, byAlice] }],
  ],
  ['installs', ['installs'], [{ name: 'listInstalls', arguments: [] }]],
  [
    'local',
    ['local', 'rack1-n01'],
    [{ name: 'setMode', arguments: [{ target: host, mode: 'local' }, byAlice] }],
  ],
  [
    'live',
    ['live', 'rack1-n01', '--until', '4h'],
    [{ name: 'setMode', arguments: [{ target: host, mode: 'live', until: '4h' }, byAlice] }],
  ],
  [
    'hold',
    ['hold', '--group', 'edge', '--reason', 'network works'],
    [{ name: 'setMode', arguments: [{ target: edge, mode: 'hold', reason: 'network works' }, byAlice] }],
  ],
  ['release', ['release', 'rack1-n01'], [{ name: 'releaseMode', arguments: [{ target: host }, byAlice] }]],
  ['token-list', ['token', 'list'], [{ name: 'listTokens', arguments: [] }]],
  [
    'token-revoke',
    ['token', 'revoke', 'ops-laptop', '--reason', 'stolen'],
    [
      { name: 'listTokens', arguments: [] },
      { name: 'revokeToken', arguments: ['writer000001', { actor, reason: 'stolen' }] },
    ],
  ],
  [
    'token-revoke-boot',
    ['token', 'revoke-boot', 'rack1-n01'],
    [{ name: 'revokeBootTokens', arguments: [{ host: 'rack1-n01' }, byAlice] }],
  ],
  ['reports', ['reports'], [{ name: 'listReports', arguments: [{ limit: 50 }] }]],
  [
    'audit',
    ['audit', '--target', 'host/rack1-n01', '--limit', '10'],
    [{ name: 'listAudit', arguments: [{ target: 'host/rack1-n01', limit: 10 }] }],
  ],
]

describe('every command asks for its operation', () => {
  beforeEach(() => writeFile(join(cwd, 'fleet.yaml'), 'version: 1\nhosts: []\n'))

  test.each(commandLines)('%s, and prints its answer for people', async (name, argv, calls) => {
    const { run, operations } = harness()
    expect(await run(...argv)).toMatchObject({ code: 0, stderr: '' })
    expect(operations.fleet.calls).toEqual(calls)
    expectGolden(`cli/${name}.txt`, (await harness().run(...argv)).stdout)
  })

  test.each(commandLines)('%s, and prints it as JSON for programs', async (_, argv) => {
    const { code, stdout, stderr } = await harness().run(...argv, '-o', 'json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(Object.keys(JSON.parse(stdout)).length).toBeGreaterThan(0)
  })

  test('backup and restore take a path from where they were called', async () => {
    const { run, operations } = harness()
    expect(await run('backup', 'b.db')).toEqual({
      code: 0,
      stdout: `${join(cwd, 'b.db')}: 80.0 KiB, complete\n`,
      stderr: '',
    })
    const restored = await run('restore', 'b.db', '--yes')
    expectGolden('cli/restore.txt', restored.stdout.replaceAll(cwd, '/w'))
    expect(operations.fleet.calls).toEqual([
      { name: 'backup', arguments: [{ file: join(cwd, 'b.db') }] },
      { name: 'restore', arguments: [{ file: join(cwd, 'b.db') }, byAlice] },
    ])
  })

  test('install says what will be lost', async () => {
    const { run, operations } = harness()
    const { code, stdout, stderr } = await run(
      'install',
      'rack1-n01',
      '--device',
      '/dev/sda',
      '--scripts',
      '3',
    )
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'rack1-n01 installs itself to /dev/sda when it next boots from the network; everything on it will be lost\n',
    })
    expectGolden('cli/install.txt', stdout)
    expect(operations.fleet.calls).toEqual([
      { name: 'armInstall', arguments: [{ host: 'rack1-n01', device: '/dev/sda', mostServes: 3 }, byAlice] },
    ])
  })

  test('a failed install shows in its list', async () => {
    const failure = { at: '2026-11-29T11:00:00.000Z', message: 'no space' }
    const { run } = harness({
      answers: { fleet: { listInstalls: async () => [{ ...sampleInstall, failure, reason: 'new disk' }] } },
    })
    expect((await run('installs')).stdout).toContain('failed at 2026-11-29T11:00:00Z: no space; new disk')
  })
})

describe('an import that is refused', () => {
  const refused = async () => {
    const lines = [
      'fleet.yaml:3:22: hosts[0].serial: found "None"',
      'fleet.yaml:4: host b: \x1b[2J',
      'and 7 more',
    ]
    throw new ServiceError('USAGE', lines.join('\n'), { field: 'text', hint: 'nothing was taken in' })
  }

  beforeEach(() => writeFile(join(cwd, 'fleet.yaml'), 'version: 1\nhosts: []\n'))

  test('names each mistake in a line of its own', async () => {
    const { run } = harness({ answers: { fleet: { importRecords: refused } } })
    expect(await run('host', 'import', 'fleet.yaml')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: [
        'pilotlight: fleet.yaml is not taken in',
        '  fleet.yaml:3:22: hosts[0].serial: found "None"',
        '  fleet.yaml:4: host b: \\x1b[2J',
        '  and 7 more',
        '  hint: nothing was taken in',
        '',
      ].join('\n'),
    })
  })

  test('names them as data', async () => {
    const { run } = harness({ answers: { fleet: { importRecords: refused } } })
    const { stderr } = await run('host', 'import', 'fleet.yaml', '--output', 'json')
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'USAGE',
      message: 'fleet.yaml is not taken in',
      problems: [{ message: expect.stringContaining('hosts[0].serial') }, {}, { message: 'and 7 more' }],
    })
  })
})

describe('a dry run', () => {
  const dryRuns: readonly (readonly string[])[] = [
    ['host', 'add', 'n7', '--mac', '525400000007'],
    ['host', 'rm', 'n7'],
    ['group', 'set', 'edge', '--set', 'profile=worker'],
    ['pin', 'rack1-n01', '44.1'],
    ['unpin', 'rack1-n01'],
    ['install', 'rack1-n01'],
    ['hold', 'rack1-n01'],
    ['release', 'rack1-n01'],
    ['token', 'create', 'x'],
    ['token', 'revoke', 'ops-laptop'],
  ]

  test.each(dryRuns)('of %s %s says so, and is asked for as such', async (...argv) => {
    const { run, operations } = harness()
    const { code, stdout, stderr } = await run(...argv, '--dry-run')
    expect(code).toBe(0)
    expect(stdout + stderr).toContain('dry run, nothing was changed')
    const changes = operations.fleet.calls.map((call) => call.arguments.at(-1)).filter(isChange)
    expect(changes).toEqual([expect.objectContaining({ actor, dryRun: true })])
  })

  function isChange(argument: unknown): boolean {
    return typeof argument === 'object' && argument !== null && 'actor' in argument
  }

  test('of a token shows no secret', async () => {
    const { stdout, stderr } = await harness().run('token', 'create', 'x', '--dry-run', '-o', 'json')
    expect(stdout + stderr).not.toContain('plt_')
  })
})

test('G12 the secret of a token is on stdout alone, and nothing else is', async () => {
  const { run, operations } = harness()
  const { code, stdout, stderr } = await run('token', 'create', 'ci', '--role', 'write', '--until', '30d')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^plt_writer000001_w{43}\n$/)
  expect(stderr).toBe(
    'token ci (writer000001) may write until 2027-02-27T12:00:00Z; its secret is shown this once:\n',
  )
  expect(operations.fleet.calls).toEqual([
    { name: 'createToken', arguments: [{ name: 'ci', role: 'write', until: '30d' }, byAlice] },
  ])
})

describe('a list with many pages', () => {
  const page = ({ limit = 100, after = '0' }: { limit?: number; after?: string }) => {
    const first = Number(after)
    const items = Array.from({ length: Math.min(limit, 2500 - first) }, (_, index) => ({
      mac: `m${first + index}`,
      firstSeenAt: '',
      lastSeenAt: '',
      count: 1,
    }))
    const end = first + items.length
    return { items, total: 2500, ...(end < 2500 && { next: String(end) }) }
  }
  const answers = { fleet: { listSeen: async (query: object) => page(query) } }

  test('is shown whole', async () => {
    const { run, operations } = harness({ answers })
    const { stdout } = await run('host', 'seen')
    expect(stdout.split('\n')).toHaveLength(2502)
    expect(operations.fleet.calls.map((call) => call.arguments)).toEqual([
      [{ limit: 1000 }],
      [{ limit: 1000, after: '1000' }],
      [{ limit: 1000, after: '2000' }],
    ])
  })

  test('is cut where one says, and says how much there is', async () => {
    const { stdout } = await harness({ answers }).run('host', 'seen', '--limit', '1200')
    expect(stdout.split('\n')).toHaveLength(1203)
    expect(stdout).toContain('1200 of 2500 machines; --limit shows more\n')
    const json = await harness({ answers }).run('host', 'seen', '--limit', '3', '-o', 'json')
    expect(JSON.parse(json.stdout)).toMatchObject({ total: 2500, machines: { length: 3 } })
  })

  test('that goes on without bringing anything ends', async () => {
    const endless = { fleet: { listSeen: async () => ({ items: [], total: 9, next: 'x' }) } }
    expect((await harness({ answers: endless }).run('host', 'seen')).code).toBe(0)
  })
})

describe('what is not understood exits with 2, says what is possible and touches nothing', () => {
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [['pin', 'a', '44.1', '--group', 'edge'], /for host a or for group edge\? only one/],
    [['pin', 'a'], /to which release\?[\s\S]*name it, or "current"/],
    [['pin', 'a', '44.1', '--arch', 'x86_46'], /did you mean "x86_64"\?/],
    [['pin'], /for which machine\?[\s\S]*--group/],
    [['hold'], /for which machine\?/],
    [['unpin', 'a', '--arch', 'mips'], /one of x86_64/],
    [['install', 'a', '--done', '--disarm'], /only one of --done and --disarm/],
    [['install', 'a', '--done', '--device', '/dev/sda'], /--device says how to install, and --done ends it/],
    [['install', 'a', '--scripts', '0'], /a number from 1 to 1000/],
    [['host', 'rm', 'a', '--if-revision', 'x'], /a revision is a number/],
    [['host', 'list', '--mode', 'lvie'], /Did you mean "live"\?/],
    [['host', 'list', '--limit', '0'], /a number from 1 on/],
    [['host', 'lst'], /unknown command 'lst'[\s\S]*list/],
    [['token', 'create', 'x', '--role', 'wirte'], /Did you mean "write"\?/],
    [['restore', 'b.db'], /nobody can be asked[\s\S]*--yes/],
    [['host', 'import', 'gone.yaml'], /gone\.yaml cannot be read: it does not exist/],
  ]

  test.each(mistakes)('%j', async (argv, words) => {
    const { run, opened, operations } = harness()
    const { code, stdout, stderr } = await run(...argv)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(words)
    expect([...opened, ...operations.fleet.calls]).toEqual([])
  })

  const fields: readonly (readonly [readonly string[], RegExp])[] = [
    [['--set', 'stream'], /--set stream: there is no key=value/],
    [['--set', 'a..b=1'], /a\.\.b is no field/],
    [['--set', 'kernelArguments=[a'], /cannot be read as YAML/],
    [['--label', 'edge'], /--label edge: there is no key=value/],
  ]

  test.each(fields)('host add %j', async (argv, words) => {
    const { run, operations } = harness()
    const { code, stdout, stderr } = await run('host', 'add', 'n7', ...argv)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(words)
    expect(operations.fleet.calls).toEqual([])
  })
})
