import type { ApiRole } from '../../src/core/fleet.ts'
import type { FleetOperations } from '../../src/http/admin/fleet-operations.ts'
import type {
  HostDetail,
  InstallSummary,
  PinSummary,
  RecordSummary,
  TokenSummary,
} from '../../src/http/admin/schemas/fleet.ts'

import { runningBoot } from './boot-operations.ts'

export interface FleetCall {
  readonly name: keyof FleetOperations
  readonly arguments: readonly unknown[]
}

export type FakeFleet = FleetOperations & { readonly calls: FleetCall[] }

/** Credentials that the fake knows, each with the role of its name. */
export const fakeSecrets: Readonly<Record<ApiRole, string>> = {
  read: `plt_reader000001_${'r'.repeat(43)}`,
  write: `plt_writer000001_${'w'.repeat(43)}`,
}

const noon = '2026-11-29T12:00:00.000Z'

export const samplePin: PinSummary = {
  target: { kind: 'host', name: 'rack1-n01' },
  release: '44.20261018.3.0',
  stream: 'fcos-stable',
  origin: 'set by token ops-laptop on 2026-11-29 12:00 UTC',
  isRunTime: true,
  isExpired: false,
  isOrphan: false,
  by: 'token ops-laptop',
  at: noon,
  reason: 'NIC regression in 44.20261101',
  files: [{ arch: 'x86_64', state: 'ready' }],
  hosts: 1,
}

export const sampleInstall: InstallSummary = {
  host: 'rack1-n01',
  source: 'admin',
  state: 'armed',
  generation: 3,
  device: '/dev/sda',
  armedAt: noon,
  armedBy: 'token ops-laptop',
  serves: 0,
  mostServes: 5,
  until: '2026-11-30T12:00:00.000Z',
  changedAt: noon,
  changedBy: 'token ops-laptop',
}

export const sampleHost: HostDetail = {
  id: 'rack1-n01',
  macs: ['52:54:00:ab:cd:ef'],
  arch: 'x86_64',
  labels: { site: 'edge' },
  groups: ['edge'],
  profile: 'worker',
  stream: 'fcos-stable',
  mode: 'live',
  decision: 'live',
  reason: 'pinned to 44.20261018.3.0',
  release: '44.20261018.3.0',
  pin: { release: '44.20261018.3.0', origin: samplePin.origin },
  source: 'api',
  lastSeenAt: noon,
  flags: [],
  origin: 'made by token ops-laptop on 2026-11-29 12:00 UTC',
  spec: { macs: ['52:54:00:ab:cd:ef'], labels: { site: 'edge' }, profile: 'worker' },
  revision: 7,
  values: [{ field: 'stream', value: 'fcos-stable', origin: 'profile worker (pilotlight.yaml:12)' }],
  reasons: [{ code: 'pinned', text: 'pinned to 44.20261018.3.0' }],
  pins: [samplePin],
  boots: [{ ...runningBoot, state: 'over', outcome: 'booted', endedAt: runningBoot.lastAt }],
  reports: [
    { bootId: 'AAAAAAAAAAAAAAAAAAAAAA', status: 'booted', at: noon, host: 'rack1-n01', osVersion: '44' },
  ],
}

export const sampleGroup: RecordSummary = {
  kind: 'group',
  name: 'edge',
  source: 'api',
  origin: 'made by token ops-laptop on 2026-11-29 12:00 UTC',
  spec: { match: { labels: { site: 'edge' } }, profile: 'worker' },
  revision: 2,
  hosts: 1,
}

export const sampleToken: TokenSummary = {
  id: 'writer000001',
  name: 'ops-laptop',
  role: 'write',
  createdAt: noon,
  createdBy: 'control socket',
  expiresAt: '2027-02-27T12:00:00.000Z',
}

/** A FleetOperations that answers plausibly and remembers what it was asked; single answers can be replaced. */
export function createFakeFleet(answers: Partial<FleetOperations> = {}): FakeFleet {
  const calls: FleetCall[] = []
  const page = <Item>(...items: Item[]) => ({ items, total: items.length })
  const defaults: FleetOperations = {
    listHosts: async () => page(sampleHost),
    showHost: async (id) => ({ ...sampleHost, id }),
    putHost: async (id) => ({ ...sampleHost, id }),
    removeHost: async () => {},
    importRecords: async (_, { dryRun = false }) => ({
      dryRun,
      added: 2,
      changed: 1,
      unchanged: 0,
      removed: 0,
    }),
    exportRecords: async () => 'version: 1\nhosts:\n  - id: rack1-n01\n    macs: [52:54:00:ab:cd:ef]\n',
    listSeen: async () =>
      page({
        mac: '52:54:00:00:00:01',
        firstSeenAt: noon,
        lastSeenAt: noon,
        count: 3,
        arch: 'x86_64' as const,
        firmware: 'efi',
        address: '192.0.2.50',
        decision: 'ignore',
      }),
    adoptHost: async ({ id = 'host-525400000001' }) => ({ ...sampleHost, id }),
    listRecords: async (kind) => [{ ...sampleGroup, kind }],
    showRecord: async (kind, name) => ({ ...sampleGroup, kind, name }),
    putRecord: async (kind, name) => ({ ...sampleGroup, kind, name }),
    removeRecord: async () => {},
    listPins: async () => page(samplePin),
    setPin: async ({ target, release }) => ({ ...samplePin, target, release }),
    removePin: async () => {},
    pinnable: async () => [
      {
        stream: 'fcos-stable',
        arch: 'x86_64',
        release: '44.20261101.3.0',
        state: 'ready',
        isCurrent: true,
      },
      {
        stream: 'fcos-stable',
        arch: 'x86_64',
        release: '44.20261018.3.0',
        state: 'ready',
        isCurrent: false,
      },
    ],
    setMode: async () => {},
    releaseMode: async () => {},
    listInstalls: async () => [sampleInstall],
    armInstall: async ({ host }) => ({ ...sampleInstall, host }),
    endInstall: async ({ host, as }) => ({
      ...sampleInstall,
      host,
      state: as === 'installed' ? 'installed' : 'disarmed',
    }),
    listReports: async () => page(...sampleHost.reports),
    revokeBootTokens: async () => {},
    listTokens: async () => [sampleToken],
    createToken: async ({ name, role }) => ({
      token: { ...sampleToken, name, role },
      secret: fakeSecrets[role],
    }),
    revokeToken: async (id) => ({ ...sampleToken, id, revokedAt: noon }),
    authenticate(bearer) {
      const role = (['read', 'write'] as const).find((known) => fakeSecrets[known] === bearer)
      return role && { actor: { by: `token my-${role}`, via: 'api' }, role }
    },
    listAudit: async () =>
      page({
        id: 1,
        at: noon,
        by: 'token ops-laptop',
        via: 'api',
        action: 'pin.set',
        target: 'host/rack1-n01',
        summary: 'pinned to 44.20261018.3.0',
        reason: 'NIC regression in 44.20261101',
      }),
    backup: async ({ file }) => ({ file, sizeBytes: 81_920, schemaVersion: 5 }),
    restore: async ({ file }) => ({
      file,
      records: 3,
      settings: 2,
      installs: 1,
      tokens: 1,
      pinnedReleases: 1,
    }),
  }
  const recorded = Object.fromEntries(
    Object.entries({ ...defaults, ...answers }).map(([name, answer]) => [
      name,
      (...given: unknown[]) => {
        // Every request asks for its credential: it would hide what else was asked.
        if (name !== 'authenticate') calls.push({ name: name as keyof FleetOperations, arguments: given })
        return (answer as (...given: unknown[]) => unknown)(...given)
      },
    ]),
  ) as unknown as FleetOperations
  return { ...recorded, calls }
}
