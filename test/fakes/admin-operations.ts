import { silentFeed } from '../../src/core/service-event.ts'
import type { BootOperations } from '../../src/http/admin/boot-operations.ts'
import type { FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import type { AdminOperations, LoadersReport } from '../../src/http/admin/operations.ts'
import { createFakeBoots, type FakeBoots } from './boot-operations.ts'
import { createFakeFleet, type FakeFleet } from './fleet-operations.ts'

type OperationName = Exclude<keyof AdminOperations, 'fleet' | 'boots' | 'events'>

export interface RecordedCall {
  readonly name: OperationName
  readonly argument: unknown
}

/** Verbs that change something; everything else only asks. */
export const writeVerbs: ReadonlySet<OperationName> = new Set([
  'sync',
  'verify',
  'gc',
  'importDocument',
  'reload',
  'testWebhook',
])

const bootimage = {
  id: 'fcos-stable/x86_64/44.20261101.3.0/0123456789abcdef',
  stream: 'fcos-stable',
  arch: 'x86_64',
  release: '44.20261101.3.0',
  kind: 'live',
  state: 'ready',
  roles: ['current'],
  setDigest: '0123456789abcdef'.repeat(4),
  sizeBytes: 1_200_000_000,
  artifacts: [{ role: 'kernel', name: 'kernel', sha256: 'a'.repeat(64) }],
} as const

const loadersReport: LoadersReport = {
  loaders: [
    {
      name: 'undionly.kpxe',
      file: '/usr/lib/ipxe/undionly.kpxe',
      platform: 'bios',
      kind: 'ipxe',
      sizeBytes: 74_213,
      sha256: 'd'.repeat(64),
    },
    {
      name: 'snponly.efi',
      file: '/usr/lib/ipxe/snponly.efi',
      platform: 'efi-x64',
      kind: 'ipxe',
      version: '1.21.1+git20250501',
      features: ['http', 'https', 'vlan'],
      sizeBytes: 284_672,
      sha256: 'e'.repeat(64),
    },
    {
      name: 'grubx64.efi',
      set: 'fedora',
      file: '/srv/loaders/fedora/grubx64.efi',
      platform: 'efi-x64',
      kind: 'grub',
      version: '2.12-21.fc43',
      features: ['http'],
      sizeBytes: 3_900_000,
      sha256: 'f'.repeat(64),
      signer: { name: 'Fedora Secure Boot Signer', issuer: 'Fedora Secure Boot CA' },
    },
  ],
  refused: [
    {
      name: 'snponly-arm64.efi',
      file: '/srv/loaders/snponly-arm64.efi',
      reason: 'its PE machine is 8664 (efi-x64), efi-arm64 needs AA64',
    },
  ],
  missing: [
    { name: 'snponly-arm64.efi', platform: 'efi-arm64', remedy: 'dnf install ipxe-bootimgs-aarch64' },
  ],
  sets: [
    {
      name: 'fedora',
      directory: '/srv/loaders/fedora',
      architectures: ['x86_64'],
      problems: [],
      streams: [{ stream: 'fcos-stable', arch: 'x86_64', release: '44.20261101.3.0' }],
    },
  ],
}

/** Answers that replace those of the fake. */
export type FakeAnswers = Partial<Omit<AdminOperations, 'fleet' | 'boots'>> & {
  readonly fleet?: Partial<FleetOperations>
  readonly boots?: Partial<BootOperations>
}

/** An AdminOperations that answers plausibly and remembers what it was asked; single answers can be replaced. */
export function createFakeOperations({
  fleet = {},
  boots = {},
  events = silentFeed,
  ...answers
}: FakeAnswers = {}): AdminOperations & {
  readonly calls: RecordedCall[]
  readonly fleet: FakeFleet
  readonly boots: FakeBoots
} {
  const calls: RecordedCall[] = []
  const defaults: Pick<AdminOperations, OperationName> = {
    readiness: async () => ({ ready: true, parts: [{ part: 'state', ready: true }] }),
    streams: async () => [
      {
        name: 'fcos-stable',
        source: 'https://builds.example/streams/stable.json',
        label: 'stable',
        lastSuccessAt: '2026-11-29T10:00:00.000Z',
        architectures: [
          {
            arch: 'x86_64',
            current: '44.20261101.3.0',
            previous: ['44.20261018.3.0'],
            lastChange: 'advanced',
          },
        ],
      },
    ],
    bootimages: async () => [bootimage],
    loaders: async () => loadersReport,
    explain: async () => ({
      decision: 'live',
      host: 'rack1-n01',
      arch: 'x86_64',
      release: '44.20261101.3.0',
      bootimage: bootimage.id,
      reasons: [
        { code: 'follows-current', text: 'follows stream fcos-stable: current is 44.20261101.3.0' },
        { code: 'host-matched-by-mac', text: 'host rack1-n01 has MAC 52:54:00:ab:cd:ef' },
      ],
      values: [{ field: 'stream', value: 'fcos-stable', origin: 'profile worker (pilotlight.yaml:12)' }],
    }),
    render: async () => '#!ipxe\nexit\n',
    sync: async () => ({
      streams: [
        {
          name: 'fcos-stable',
          outcome: 'updated',
          notes: [],
          bootimages: [{ id: bootimage.id, state: 'ready' }],
        },
      ],
    }),
    verify: async () => ({ checked: 3, bytes: 1_200_000_000, bad: [] }),
    gc: async ({ dryRun }) => ({
      dryRun,
      removed: [{ sha256: 'b'.repeat(64), sizeBytes: 900_000_000, why: 'nothing refers to it' }],
      freedBytes: 900_000_000,
      kept: 6,
    }),
    importDocument: async ({ stream }) => ({
      format: 'stream',
      stream,
      digest: 'c'.repeat(64),
      releases: [{ arch: 'x86_64', release: '43.20260601.3.0', kind: 'live' }],
      problems: [],
    }),
    reload: async () => ({ changed: true }),
    webhooks: async () => [
      {
        name: 'ops',
        events: ['boot.over', 'stream.held'],
        state: 'failing',
        waiting: 3,
        refused: 0,
        dropped: 0,
        lastDeliveredAt: '2026-11-29T10:00:00.000Z',
        problem: 'status 503',
      },
    ],
    testWebhook: async () => ({ isDelivered: true, status: 204 }),
  }
  const record = <Name extends OperationName>(name: Name): AdminOperations[Name] => {
    const answer = (answers[name] ?? defaults[name]) as (argument?: unknown) => Promise<unknown>
    return (async (argument?: unknown) => {
      calls.push({ name, argument })
      return answer(argument)
    }) as AdminOperations[Name]
  }
  return {
    calls,
    fleet: createFakeFleet(fleet),
    boots: createFakeBoots(boots),
    events,
    readiness: record('readiness'),
    streams: record('streams'),
    bootimages: record('bootimages'),
    loaders: record('loaders'),
    explain: record('explain'),
    render: record('render'),
    sync: record('sync'),
    verify: record('verify'),
    gc: record('gc'),
    importDocument: record('importDocument'),
    reload: record('reload'),
    webhooks: record('webhooks'),
    testWebhook: record('testWebhook'),
  }
}
