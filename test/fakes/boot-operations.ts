import { ServiceError } from '../../src/core/errors.ts'
import type { BootOperations } from '../../src/http/admin/boot-operations.ts'
import type {
  BootDetail,
  BootSummary,
  DoctorReport,
  MachinePage,
  MachineRow,
  PatternSummary,
} from '../../src/http/admin/schemas/boots.ts'

export interface BootCall {
  readonly name: keyof BootOperations
  readonly argument: unknown
}

export type FakeBoots = BootOperations & { readonly calls: BootCall[] }

/** A machine that fetches its rootfs. */
export const runningBoot: BootSummary = {
  id: '0mh9xk2r0aaaaaa',
  bootId: 'AAAAAAAAAAAAAAAAAAAAAA',
  host: 'rack1-n01',
  mac: '52:54:00:ab:cd:ef',
  address: '192.0.2.41',
  arch: 'x86_64',
  firmware: 'uefi',
  state: 'running',
  phase: 'rootfs',
  step: 'rootfs 412 of 1021 MiB, 38 MiB/s',
  startedAt: '2026-11-29T12:00:00.000Z',
  lastAt: '2026-11-29T12:00:41.000Z',
  durationMs: 41_000,
  decision: 'live',
  reason: 'follows stream fcos-stable: current is 44.20261101.3.0',
  bootimage: 'fcos-stable/x86_64/44.20261101.3.0/0123456789abcdef',
  release: '44.20261101.3.0',
  transfer: {
    role: 'rootfs',
    name: 'fedora-coreos-44.20261101.3.0-live-rootfs.x86_64.img',
    sentBytes: 432_013_312,
    totalBytes: 1_070_596_096,
    percent: 40,
    bytesPerSecond: 39_845_888,
    isDone: false,
  },
}

/** A machine that got offers and went no further. */
export const stuckBoot: BootSummary = {
  id: '0mh9xf0000bbbbb',
  mac: '52:54:00:ab:cd:f0',
  arch: 'x86_64',
  firmware: 'uefi',
  state: 'stuck',
  phase: 'dhcp',
  step: 'DISCOVER from UEFI x86_64 firmware; offered snponly.efi',
  startedAt: '2026-11-29T11:56:00.000Z',
  lastAt: '2026-11-29T11:58:00.000Z',
  durationMs: 120_000,
  diagnosis: {
    code: 'offer-not-followed',
    text: 'It was offered snponly.efi 4 times and asked for nothing.',
    remedy: 'See that another DHCP server gives this network addresses.',
    at: '2026-11-29T11:58:10.000Z',
  },
}

export const sampleBootDetail: BootDetail = {
  ...runningBoot,
  bootIds: ['AAAAAAAAAAAAAAAAAAAAAA'],
  loader: 'ipxe',
  reasons: [
    { code: 'follows-current', text: 'follows stream fcos-stable: current is 44.20261101.3.0' },
    { code: 'host-matched-by-mac', text: 'host rack1-n01 has MAC 52:54:00:ab:cd:ef' },
  ],
  phases: [
    {
      phase: 'dhcp',
      startedAt: '2026-11-29T12:00:00.000Z',
      endedAt: '2026-11-29T12:00:04.000Z',
      durationMs: 4_000,
    },
    { phase: 'rootfs', startedAt: '2026-11-29T12:00:30.000Z', durationMs: 11_000, limitMs: 120_000 },
  ],
  steps: [
    {
      at: '2026-11-29T12:00:00.000Z',
      lastAt: '2026-11-29T12:00:00.000Z',
      count: 1,
      offsetMs: 0,
      phase: 'dhcp',
      type: 'dhcp-answered',
      text: 'DISCOVER from UEFI x86_64 firmware; offered snponly.efi',
      tone: 'normal',
    },
    {
      at: '2026-11-29T12:00:30.000Z',
      lastAt: '2026-11-29T12:00:41.000Z',
      count: 11,
      offsetMs: 30_000,
      phase: 'rootfs',
      type: 'artifact-progress',
      text: 'rootfs 412 of 1021 MiB, 38 MiB/s',
      tone: 'normal',
    },
  ],
  leftOut: 0,
}

export const sampleMachine: MachineRow = {
  key: 'rack1-n01',
  host: 'rack1-n01',
  mac: '52:54:00:ab:cd:ef',
  state: 'running',
  step: runningBoot.step,
  phase: 'rootfs',
  ...(runningBoot.transfer !== undefined && { transfer: runningBoot.transfer }),
  stream: 'fcos-stable',
  mode: 'live',
  groups: ['edge'],
  profile: 'worker',
  release: '44.20261101.3.0',
  attempt: runningBoot.id,
  lastSeenAt: runningBoot.lastAt,
  flags: [],
}

export const strangerMachine: MachineRow = {
  key: '52:54:00:ab:cd:f0',
  mac: '52:54:00:ab:cd:f0',
  state: 'stuck',
  step: stuckBoot.step,
  phase: 'dhcp',
  groups: [],
  attempt: stuckBoot.id,
  lastSeenAt: stuckBoot.lastAt,
  ...(stuckBoot.diagnosis !== undefined && { diagnosis: stuckBoot.diagnosis }),
  flags: [],
}

const machinePage: MachinePage = {
  items: [strangerMachine, sampleMachine],
  total: 2,
  counts: { stuck: 1, running: 1 },
  needs: 1,
  releases: ['44.20261101.3.0'],
  groups: ['edge'],
  streams: ['fcos-stable'],
}

export const samplePattern: PatternSummary = {
  code: 'offer-not-followed',
  title: 'offers, and then nothing',
  text: 'The machine asks by DHCP and is answered, and asks for nothing else.',
  remedy: 'See that another DHCP server gives this network addresses.',
  cases: [1, 2],
  machines: ['52:54:00:ab:cd:f0'],
  diagnoses: [
    {
      machine: '52:54:00:ab:cd:f0',
      text: 'It was offered ipxe.efi 6 times and asked for nothing else.',
      remedy: 'See that another DHCP server gives 192.0.2.0/24 addresses.',
    },
  ],
  count: 1,
}

const doctorReport: DoctorReport = {
  healthy: false,
  checkedAt: '2026-11-29T12:00:00.000Z',
  findings: [
    {
      check: 'boots',
      severity: 'warning',
      what: '1 machine is offered a loader and asks for nothing else',
      todo: 'See that another DHCP server gives this network addresses.',
    },
  ],
}

/** The header of an empty pcap file. */
export const emptyPcap = Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex').toString(
  'base64',
)

/** A BootOperations that answers plausibly and remembers what it was asked; single answers can be replaced. */
export function createFakeBoots(answers: Partial<BootOperations> = {}): FakeBoots {
  const calls: BootCall[] = []
  const known = [runningBoot, stuckBoot]
  const defaults: BootOperations = {
    listBoots: async () => ({ items: known, total: known.length }),
    async showBoot(id) {
      const found = known.find((boot) => [boot.id, boot.bootId, boot.mac, boot.host].includes(id))
      if (found === undefined) throw new ServiceError('NOT_FOUND', `no boot ${JSON.stringify(id)} is known`)
      return { ...sampleBootDetail, ...found }
    },
    listMachines: async () => machinePage,
    listPatterns: async () => [samplePattern],
    capture: async ({ mac }) => ({ mac, packets: 0, dropped: 0, pcap: emptyPcap }),
    diagnose: async () => doctorReport,
  }
  const record = <Name extends keyof BootOperations>(name: Name): BootOperations[Name] => {
    const answer = (answers[name] ?? defaults[name]) as (argument?: unknown) => Promise<unknown>
    return (async (argument?: unknown) => {
      calls.push({ name, argument })
      return answer(argument)
    }) as BootOperations[Name]
  }
  return {
    calls,
    listBoots: record('listBoots'),
    showBoot: record('showBoot'),
    listMachines: record('listMachines'),
    listPatterns: record('listPatterns'),
    capture: record('capture'),
    diagnose: record('diagnose'),
  }
}
