import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AdminOperations, BootimageSummary } from '../../../src/http/admin/operations.ts'
import type { GatherOptions } from '../../../src/runtime/doctor/gather-facts.ts'
import { createCliHarness } from '../../fakes/cli-harness.ts'
import { healthyFacts } from '../../fakes/doctor-facts.ts'
import { expectGolden } from '../../fakes/golden.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-cli-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

async function print(answers: Partial<AdminOperations>, ...argv: string[]): Promise<string> {
  const { code, stdout } = await createCliHarness({ cwd, answers }).run(...argv)
  expect(code).toBe(0)
  return stdout
}

test('G4 streams say since when they were read, what is coming, what is held and what is wrong', async () => {
  const streams = async () =>
    [
      {
        name: 'coming',
        source: 's',
        lastSuccessAt: '2026-11-29T11:58:00Z',
        architectures: [
          {
            arch: 'x86_64',
            current: '43',
            previous: ['42', '41'],
            target: { release: '44', state: 'downloading' },
          },
          {
            arch: 'aarch64',
            previous: [],
            target: { release: '44', state: 'failed', failure: 'the bytes do not have the expected SHA-256' },
          },
        ],
      },
      {
        name: 'held',
        source: 's',
        lastSuccessAt: '2026-11-29T11:00:00Z',
        architectures: [
          {
            arch: 'x86_64',
            current: '44',
            previous: [],
            pending: {
              change: 'rolled-back',
              release: '43',
              policy: 'confirm',
              seen: 1,
              decides:
                'waits for a second refresh that says the same (streams.held.changes.rolledBack: confirm)',
            },
          },
          {
            arch: 's390x',
            current: '44',
            previous: [],
            pending: {
              change: 'republished',
              policy: 'hold',
              seen: 3,
              decides: 'held by streams.held.changes.republished: hold',
            },
            problem: 'the rootfs has no sha256',
          },
        ],
      },
      {
        name: 'gone',
        source: 's',
        failingSince: '2026-11-29T11:00:00Z',
        error: { code: 'UPSTREAM_UNREACHABLE', message: 'nothing answered' },
        architectures: [],
      },
    ] as const
  expectGolden('cli/troubled-streams.txt', await print({ streams: streams as never }, 'streams'))
})

test('field case 147: bootimages say how far they are, or why they failed', async () => {
  const base: BootimageSummary = {
    id: 'i',
    stream: 'a',
    arch: 'x86_64',
    release: '44',
    kind: 'live',
    state: 'ready',
    roles: [],
    setDigest: '0',
    artifacts: [],
  }
  const bootimages = async (): Promise<BootimageSummary[]> => [
    { ...base, state: 'downloading', roles: ['target'], doneBytes: 1_000_000, totalBytes: 4_000_000 },
    { ...base, state: 'downloading', doneBytes: 1_000_000 },
    { ...base, state: 'queued', doneBytes: 0 },
    {
      ...base,
      state: 'failed',
      failure: {
        code: 'SIGNATURE_INVALID',
        message: 'the signature is not good',
        at: '2026-11-29T11:00:00Z',
      },
    },
    { ...base, kind: 'legacy-installer', roles: ['pinned', 'leased'], sizeBytes: 5_000_000 },
  ]
  expectGolden('cli/troubled-bootimages.txt', await print({ bootimages }, 'bootimages'))
})

test('G10 an unknown machine is explained by its reasons alone', async () => {
  const explain = async () => ({
    decision: 'ignore',
    reasons: [{ code: 'unknown-ignored', text: 'unknown machines are ignored (unknown: ignore)' }],
    values: [],
  })
  expectGolden('cli/troubled-explain.txt', await print({ explain }, 'explain', '--mac', '52:54:00:ab:cd:ef'))
})

test('the doctor tells what is wrong and what to do, and exits with 1', async () => {
  const asked: unknown[] = []
  const gatherFacts = async (options: GatherOptions) => {
    asked.push(options.service.kind, options.interfaces)
    return healthyFacts({
      service: { state: 'stopped' },
      fetches: [],
      ports: [
        {
          purpose: 'DHCP',
          protocol: 'udp',
          port: 67,
          interface: 'eth1',
          bind: 'taken',
          holders: [{ pid: 812, program: 'dnsmasq' }],
        },
      ],
      wires: [{ interface: 'eth1', outcome: { kind: 'asked', offers: [] } }],
      clock: { now: Date.parse('1970-01-01T00:00:00Z'), serverTimes: [] },
    })
  }
  await writeFile(
    join(cwd, 'pilotlight.yaml'),
    'version: 1\nstreams: {}\nunknown: ignore\nboot: { tftp: {}, dhcp: { mode: proxy, interface: eth1 } }\n',
  )
  const { code, stdout } = await createCliHarness({ cwd, runtime: { gatherFacts } }).run(
    ...['doctor', '--interface', 'eth1', 'eth2'],
  )
  expect(code).toBe(1)
  expect(asked).toEqual(['stopped', ['eth1', 'eth2']])
  expectGolden('cli/troubled-doctor.txt', stdout.replaceAll(cwd, 'DIRECTORY'))
})

test('what an imported document holds in vain is told', async () => {
  await writeFile(join(cwd, 'document.json'), '{}')
  const importDocument = async () => ({
    format: 'stream',
    stream: 'a',
    digest: 'c'.repeat(64),
    releases: [{ arch: 'x86_64' as const, release: '43', kind: 'live' }],
    problems: ['aarch64: the kernel has no sha256'],
  })
  const text = await print({ importDocument }, 'import', 'document.json', '--stream', 'a')
  expect(text).toContain('NOT USABLE\naarch64: the kernel has no sha256\n')
})

test('a document that is too long to be one is refused before it is read', async () => {
  await writeFile(join(cwd, 'huge.json'), Buffer.alloc(16 * 1024 * 1024 + 1))
  const { run, operations } = createCliHarness({ cwd })
  const { code, stderr } = await run('import', 'huge.json', '--stream', 'a')
  expect(code).toBe(2)
  expect(stderr).toMatch(/huge\.json cannot be read: it has more than 16 MiB/)
  expect(operations.calls).toEqual([])
})
