import { ServiceError } from '../../src/core/errors.ts'
import type {
  BootDetail,
  BootSummary,
  MachinePage,
  MachineQuery,
  MachineRow,
  MachineState,
  PatternSummary,
} from '../../src/http/admin/schemas/boots.ts'
import type { AuditSummary, HostDetail } from '../../src/http/admin/schemas/fleet.ts'
import type { BootimageSummary, StreamSummary } from '../../src/http/admin/schemas/service.ts'
import { createServiceEventFeed, type ServiceFeed } from '../../src/runtime/feed.ts'
import type { FakeAnswers } from '../fakes/admin-operations.ts'
import { emptyPcap } from '../fakes/boot-operations.ts'
import { sampleHost } from '../fakes/fleet-operations.ts'

/** A fleet in mixed states, as an admin has it on a bad morning; everything that the page shows is in it. */
export interface MixedFleet {
  readonly answers: FakeAnswers
  readonly feed: ServiceFeed
  readonly rows: MachineRow[]
  /** Replaces the row of that key, and tells the feed. */
  move(key: string, change: Partial<MachineRow>): void
}

export const morning = Date.parse('2026-11-30T07:42:10.000Z')
const current = '44.20261115.3.0'
const previous = '44.20261101.3.0'
const ago = (seconds: number) => new Date(morning - seconds * 1_000).toISOString()

const diagnoses = {
  offers: {
    code: 'offer-not-followed',
    text: 'It was offered snponly.efi 6 times in 4 minutes and asked for nothing else.',
    remedy:
      'See that a DHCP server gives this network addresses: pilotlight offers the boot file beside it, never an address. On a VLAN, see that DHCP relays reach it.',
    at: ago(212),
  },
  silent: {
    code: 'silent-after-kernel',
    text: 'It fetched kernel and initramfs 9 minutes ago and was silent since: no rootfs was asked for.',
    remedy:
      'Look at its console. Most often it has too little memory (CoreOS live wants 4 GiB), or the kernel argument console= names a port that it does not have.',
    at: ago(380),
  },
  otherRelease: {
    code: 'reports-another-release',
    text: `It was served ${current} and reports ${previous}.`,
    remedy:
      'It booted from something else, most often its disk: put network boot first in its boot order, or set mode: local.',
    at: ago(840),
  },
} as const

const special: readonly (Partial<MachineRow> & { readonly state: MachineState })[] = [
  {
    state: 'stuck',
    step: 'DISCOVER from UEFI x86_64 firmware; offered snponly.efi',
    phase: 'dhcp',
    diagnosis: diagnoses.offers,
    lastSeenAt: ago(14),
  },
  {
    state: 'stuck',
    step: 'initramfs sent, 92.1 MiB',
    phase: 'initramfs',
    diagnosis: diagnoses.silent,
    lastSeenAt: ago(541),
  },
  {
    state: 'failed',
    step: 'reported: coreos-installer failed: /dev/sda is busy',
    phase: 'system',
    mode: 'install',
    lastSeenAt: ago(1_260),
  },
  {
    state: 'running',
    step: 'rootfs 412 of 1021 MiB, 38 MiB/s',
    phase: 'rootfs',
    lastSeenAt: ago(1),
    transfer: {
      role: 'rootfs',
      name: 'live-rootfs.x86_64.img',
      sentBytes: 432_013_312,
      totalBytes: 1_070_596_096,
      percent: 40,
      bytesPerSecond: 39_845_888,
      isDone: false,
    },
  },
  {
    state: 'running',
    step: 'kernel 11 of 14 MiB, 61 MiB/s',
    phase: 'kernel',
    lastSeenAt: ago(0),
    transfer: {
      role: 'kernel',
      name: 'live-kernel-x86_64',
      sentBytes: 11_534_336,
      totalBytes: 14_680_064,
      percent: 78,
      bytesPerSecond: 63_963_136,
      isDone: false,
    },
  },
  { state: 'running', step: 'all files sent; waiting for its report', phase: 'system', lastSeenAt: ago(31) },
  {
    state: 'waiting',
    step: 'told to wait: 44.20260921.3.0 is being fetched (412 of 1102 MiB)',
    phase: 'script',
    lastSeenAt: ago(4),
    pin: { release: '44.20260921.3.0', origin: 'set by token ops-laptop' },
  },
  {
    state: 'held',
    step: 'told to hold: held by an admin: bad DIMM, ticket with the vendor',
    phase: 'script',
    mode: 'hold',
    lastSeenAt: ago(4_000),
  },
  {
    state: 'booted',
    step: `reported: booted ${previous}`,
    phase: 'system',
    release: previous,
    diagnosis: diagnoses.otherRelease,
    lastSeenAt: ago(840),
  },
]

function rowOf(index: number, random: () => number): MachineRow {
  const rack = Math.floor(index / 20) + 1
  const host = `rack${rack}-n${String((index % 20) + 1).padStart(2, '0')}`
  const mac = `52:54:00:${[index >> 16, index >> 8, index].map((part) => (part & 255).toString(16).padStart(2, '0')).join(':')}`
  const states: readonly MachineState[] = [
    'booted',
    'booted',
    'booted',
    'booted',
    'installed',
    'local',
    'local',
    'served',
    'idle',
  ]
  const state = states[Math.floor(random() * states.length)] ?? 'booted'
  const isOld = random() < 0.2
  const steps: Partial<Record<MachineState, string>> = {
    booted: `reported: booted ${isOld ? previous : current}`,
    installed: `reported: installed ${isOld ? previous : current}`,
    local: 'sent to its own disk',
    served: 'rootfs sent, 1021 MiB in 11 s',
  }
  const step = steps[state]
  return {
    key: host,
    host,
    mac,
    state,
    ...(step !== undefined && {
      step,
      phase: 'system',
      lastSeenAt: ago(Math.floor(random() ** 3 * 900_000) + 60),
      attempt: `0mh9xk2r0${String(index).padStart(6, '0')}`,
    }),
    stream: index % 7 === 0 ? 'fcos-testing' : 'fcos-stable',
    mode: 'live',
    groups: [index % 3 === 0 ? 'edge' : 'core'],
    profile: 'worker',
    release: isOld ? previous : current,
    ...(isOld && {
      pin: { release: previous, origin: 'group core (hosts.d/core.yaml:4): NIC regression in 44.20261115' },
    }),
    flags: [],
    ...(index < special.length && {
      ...special[index],
      attempt: `0mh9xk2r0${String(index).padStart(6, '0')}`,
    }),
  }
}

/** Numbers that look random and are the same each time. */
function sequence(): () => number {
  let seed = 42
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
}

const stranger: MachineRow = {
  key: '3c:ec:ef:10:2a:4e',
  mac: '3c:ec:ef:10:2a:4e',
  state: 'stuck',
  step: 'loader snponly.efi by TFTP, 278 KiB; then DISCOVER from firmware again, 3 times',
  phase: 'loader',
  groups: [],
  attempt: '0mh9xk2r0strang',
  lastSeenAt: ago(6),
  diagnosis: {
    code: 'loader-loop',
    text: 'It loaded snponly.efi 3 times within 2 minutes and came back as firmware each time.',
    remedy:
      'Its firmware starts the loader and the loader dies. Give it another one: loader: ipxe.efi in its record.',
    at: ago(40),
  },
  flags: [],
}

const order: readonly MachineState[] = [
  'stuck',
  'failed',
  'held',
  'waiting',
  'running',
  'booted',
  'installed',
  'served',
  'local',
  'idle',
]

function isNeedy({ state, diagnosis }: MachineRow): boolean {
  return diagnosis !== undefined || ['stuck', 'failed', 'held'].includes(state)
}

function pageOfRows(rows: readonly MachineRow[], query: MachineQuery): MachinePage {
  const { limit = 100, page = 1, keys, search, state, stream, release, group, sort = 'state' } = query
  const found = rows.filter(
    (row) =>
      (keys === undefined || keys.includes(row.key)) &&
      (search === undefined || `${row.host} ${row.mac}`.includes(search.toLowerCase())) &&
      (state === undefined || row.state === state) &&
      (stream === undefined || row.stream === stream) &&
      (release === undefined || row.release === release) &&
      (group === undefined || row.groups.includes(group)),
  )
  const rank = (row: MachineRow) =>
    sort === 'state' ? order.indexOf(row.state) + (isNeedy(row) ? 0 : order.length) : 0
  found.sort((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1))
  const counts: Record<string, number> = {}
  for (const row of rows) counts[row.state] = (counts[row.state] ?? 0) + 1
  return {
    items: found.slice((page - 1) * limit, page * limit),
    total: found.length,
    counts,
    needs: rows.filter(isNeedy).length,
    releases: [current, previous],
    groups: ['core', 'edge'],
    streams: ['fcos-stable', 'fcos-testing'],
  }
}

function bootOf(row: MachineRow): BootSummary {
  const isOver = !['running', 'waiting', 'stuck'].includes(row.state)
  return {
    id: row.attempt ?? '0mh9xk2r0000000',
    bootId: 'AAAAAAAAAAAAAAAAAAAAAA',
    ...(row.host !== undefined && { host: row.host }),
    ...(row.mac !== undefined && { mac: row.mac }),
    address: '192.0.2.41',
    arch: 'x86_64',
    firmware: 'uefi',
    state: isOver ? 'over' : (row.state as 'running'),
    ...(isOver && { outcome: row.state as 'booted' }),
    phase: row.phase ?? 'system',
    step: row.step ?? '',
    startedAt: ago(58),
    lastAt: row.lastSeenAt ?? ago(10),
    durationMs: 58_000,
    decision: 'live',
    reason: `follows stream fcos-stable: current is ${current}`,
    bootimage: `fcos-stable/x86_64/${current}/0123456789abcdef`,
    release: row.release ?? current,
    ...(row.transfer !== undefined && { transfer: row.transfer }),
    ...(row.diagnosis !== undefined && { diagnosis: row.diagnosis }),
  }
}

const phaseTimes = [
  ['dhcp', 58, 53.2],
  ['loader', 53.2, 50.9],
  ['script', 50.9, 47.1],
  ['kernel', 47.1, 45.6],
  ['initramfs', 45.6, 41.2],
  ['rootfs', 27, 15.8],
  ['system', 15.8, 6],
] as const

function detailOf(row: MachineRow): BootDetail {
  const step = (
    at: number,
    phase: BootDetail['phase'],
    text: string,
    tone: 'normal' | 'good' | 'bad' = 'normal',
    count = 1,
  ) => ({
    at: ago(at),
    lastAt: ago(Math.max(0, at - count + 1)),
    count,
    offsetMs: (58 - at) * 1_000,
    phase,
    type: 'dhcp-answered',
    text,
    tone,
  })
  const steps = [
    step(58, 'dhcp', 'DISCOVER from UEFI x86_64 firmware; offered snponly.efi', 'normal', 2),
    step(54, 'dhcp', 'REQUEST on 4011; acknowledged, file snponly.efi'),
    step(53.2, 'loader', 'loader snponly.efi by TFTP, 278 KiB in 2.1 s'),
    step(50.9, 'script', 'DISCOVER from iPXE 1.21.1; offered http://192.0.2.10/boot.ipxe'),
    step(48.4, 'script', 'entry script boot.ipxe'),
    step(47.2, 'script', `decided live ${current}: follows stream fcos-stable`),
    step(47.1, 'kernel', 'kernel sent, 14.0 MiB in 1.4 s'),
    step(45.6, 'initramfs', 'initramfs sent, 92.1 MiB in 4.3 s'),
    step(27, 'rootfs', 'HEAD of rootfs, 1021 MiB'),
    step(26, 'rootfs', 'rootfs 412 of 1021 MiB, 38 MiB/s', 'normal', 25),
    step(6, 'system', row.step ?? '', row.state === 'failed' ? 'bad' : 'good'),
  ]
  const reached = phaseTimes.findIndex(([phase]) => phase === row.phase)
  const phases = phaseTimes.slice(0, reached + 1)
  const isOver = !['running', 'waiting', 'stuck'].includes(row.state)
  return {
    ...bootOf(row),
    bootIds: ['AAAAAAAAAAAAAAAAAAAAAA'],
    uuid: '4c4c4544-0051-3010-8051-c2c04f4e3532',
    serial: 'CQ0Q4N2',
    loader: 'ipxe',
    reasons: [
      { code: 'follows-current', text: `follows stream fcos-stable: current is ${current}` },
      row.host === undefined
        ? { code: 'host-unknown', text: 'no host has this MAC, UUID or serial' }
        : { code: 'host-matched-by-mac', text: `host ${row.host} has MAC ${row.mac}` },
      { code: 'group-matched', text: 'group core matches its labels' },
    ],
    phases: phases.map(([phase, from, to], index) => {
      const isOpen = !isOver && index === phases.length - 1
      return {
        phase,
        startedAt: ago(from),
        ...(!isOpen && { endedAt: ago(to) }),
        durationMs: (from - (isOpen ? 0 : to)) * 1_000,
        ...(isOpen && { limitMs: 120_000 }),
      }
    }),
    steps: steps.filter(({ phase }) => phases.some(([shown]) => shown === phase)),
    leftOut: 0,
  }
}

const streams: readonly StreamSummary[] = [
  {
    name: 'fcos-stable',
    source: 'https://builds.coreos.fedoraproject.org/streams/stable.json',
    label: 'stable',
    lastSuccessAt: ago(340),
    architectures: [
      { arch: 'x86_64', current, previous: [previous, '44.20261018.3.0'], lastChange: 'advanced' },
      {
        arch: 'aarch64',
        current: previous,
        previous: ['44.20261018.3.0'],
        lastChange: 'advanced',
        target: { release: current, state: 'downloading' },
      },
    ],
  },
  {
    name: 'fcos-testing',
    source: 'https://builds.coreos.fedoraproject.org/streams/testing.json',
    lastSuccessAt: ago(94_000),
    lastAttemptAt: ago(120),
    failingSince: ago(93_100),
    error: {
      code: 'UPSTREAM_UNREACHABLE',
      message: 'nothing answered at builds.coreos.fedoraproject.org within 10 s',
    },
    architectures: [
      {
        arch: 'x86_64',
        current: '44.20261122.2.0',
        previous: ['44.20261108.2.0'],
        lastChange: 'advanced',
        pending: {
          change: 'republished',
          release: '44.20261122.2.0',
          policy: 'hold',
          seen: 3,
          decides:
            'the same release with other digests: held until an admin says changes: { republished: follow } (pilotlight.yaml:14)',
        },
      },
    ],
  },
]

const image = (
  stream: string,
  arch: 'x86_64' | 'aarch64',
  release: string,
  roles: BootimageSummary['roles'],
): BootimageSummary => ({
  id: `${stream}/${arch}/${release}/0123456789abcdef`,
  stream,
  arch,
  release,
  kind: 'live',
  state: 'ready',
  roles,
  setDigest: 'a'.repeat(64),
  sizeBytes: 1_181_000_000,
  artifacts: [],
})

const bootimages: readonly BootimageSummary[] = [
  image('fcos-stable', 'x86_64', current, ['current', 'leased']),
  image('fcos-stable', 'x86_64', previous, ['previous', 'pinned']),
  {
    ...image('fcos-stable', 'aarch64', current, ['target']),
    state: 'downloading',
    doneBytes: 512_000_000,
    totalBytes: 1_204_000_000,
    bytesPerSecond: 18_350_000,
  },
  image('fcos-stable', 'aarch64', previous, ['current']),
  {
    ...image('fcos-testing', 'x86_64', '44.20261122.2.0', ['held']),
    state: 'failed',
    failure: {
      code: 'SIGNATURE_INVALID',
      message: 'the signature of kernel is not good: key 6a51bbabba3d5467',
      at: ago(93_000),
    },
  },
]

function told(machine: string, diagnosis: MachineRow['diagnosis']): PatternSummary['diagnoses'] {
  if (diagnosis === undefined) return []
  return [{ machine, text: diagnosis.text, remedy: diagnosis.remedy }]
}

const patterns: readonly PatternSummary[] = [
  {
    code: 'offer-not-followed',
    title: 'Offers, and then nothing',
    text: 'The machine asks by DHCP, is answered, and asks for nothing else.',
    remedy: 'See that a DHCP server gives this network addresses, and that no second boot server answers.',
    cases: [1, 2],
    machines: ['rack1-n01'],
    diagnoses: told('rack1-n01', diagnoses.offers),
    count: 1,
  },
  {
    code: 'loader-loop',
    title: 'The loader starts again and again',
    text: 'The firmware loads the loader, comes back as firmware, and does it again.',
    remedy: 'Give the machine another loader with loader: in its record.',
    cases: [17],
    machines: [stranger.key],
    diagnoses: told(stranger.key, stranger.diagnosis),
    count: 1,
  },
  {
    code: 'rootfs-cut-off',
    title: 'The rootfs is cut off',
    text: 'The transfer of the rootfs ends before its end, again and again.',
    remedy: 'Look at the network between: the MTU, a proxy, a switch port.',
    cases: [130],
    machines: [],
    diagnoses: [],
    count: 0,
  },
]

const audit: readonly AuditSummary[] = [
  {
    id: 412,
    at: ago(1_900),
    by: 'token ops-laptop',
    via: 'page',
    action: 'pin.set',
    target: 'host/rack1-n07',
    summary: 'pinned to 44.20260921.3.0',
    reason: 'reproduce the NIC regression',
  },
  {
    id: 411,
    at: ago(4_100),
    by: 'root',
    via: 'control',
    action: 'mode.set',
    target: 'host/rack1-n08',
    summary: 'held',
    reason: 'bad DIMM, ticket with the vendor',
  },
  {
    id: 410,
    at: ago(90_000),
    by: 'boot 7pX9mQ2LwRk3sTf8vNhYzA',
    via: 'report',
    action: 'install.done',
    target: 'host/rack2-n11',
    summary: 'install generation 2 is done',
  },
]

/** @param hosts how many; the first eight are in trouble or under way, and one machine is unknown */
export function createMixedFleet(hosts = 64): MixedFleet {
  const random = sequence()
  const rows: MachineRow[] = [stranger, ...Array.from({ length: hosts }, (_, index) => rowOf(index, random))]
  const feed = createServiceEventFeed({ clock: { now: () => morning }, epoch: morning })
  const find = (id: string) => rows.find((row) => [row.key, row.host, row.mac, row.attempt].includes(id))
  const known = (id: string): MachineRow => {
    const row = find(id)
    if (row === undefined) throw new ServiceError('NOT_FOUND', `nothing is known of ${JSON.stringify(id)}`)
    return row
  }
  const told = (row: MachineRow) =>
    feed.publish('boot', () => bootOf(row), {
      ...(row.host !== undefined && { host: row.host }),
      ...(row.mac !== undefined && { mac: row.mac }),
    })
  for (const row of rows.slice(0, 12)) told(row)
  feed.publish('stream', () => streams[0] ?? {})
  feed.publish('change', () => audit[0] ?? {}, { host: 'rack1-n07' })

  const hostOf = (id: string): HostDetail => {
    const row = known(id)
    return {
      ...sampleHost,
      id,
      macs: row.mac === undefined ? [] : [row.mac],
      decision: 'live',
      release: row.release ?? current,
      labels: { site: 'edge', rack: '1' },
      groups: [...row.groups],
      pins: row.pin === undefined ? [] : sampleHost.pins,
      reasons: detailOf(row).reasons.map((reason) => ({ ...reason })),
      values: [
        { field: 'stream', value: 'fcos-stable', origin: 'profile worker (pilotlight.yaml:12)' },
        { field: 'mode', value: 'live', origin: 'profile worker (pilotlight.yaml:13)' },
        {
          field: 'kernelArguments',
          value: 'console=tty0 console=ttyS0,115200n8',
          origin: 'profile worker (pilotlight.yaml:14)',
        },
      ],
      reports: [],
    }
  }
  const boots = (mine: readonly MachineRow[]): BootSummary[] =>
    mine.flatMap((row) => [
      bootOf(row),
      {
        ...bootOf({ ...row, state: 'booted', step: `reported: booted ${previous}` }),
        id: '0mh9xk2r0before',
        startedAt: ago(170_000),
        durationMs: 74_300,
        release: previous,
      },
      {
        ...bootOf({ ...row, state: 'booted', step: 'asked for nothing more' }),
        id: '0mh9xk2r0earlie',
        outcome: 'superseded',
        startedAt: ago(171_000),
        durationMs: 12_300,
        release: previous,
      },
    ])
  return {
    rows,
    feed,
    move(key, change) {
      const index = rows.findIndex((row) => row.key === key)
      const row = rows[index]
      if (row === undefined) throw new Error(`no row ${key}`)
      const moved = { ...row, ...change }
      rows[index] = moved
      told(moved)
    },
    answers: {
      events: feed,
      streams: async () => streams,
      bootimages: async () => bootimages,
      boots: {
        listMachines: async (query) => pageOfRows(rows, query),
        showBoot: async (id) => detailOf(known(id)),
        async listBoots({ host, mac, limit = 100 }) {
          const mine = rows.filter(
            (row) => (host === undefined || row.host === host) && (mac === undefined || row.mac === mac),
          )
          const items = boots(mine.filter(({ attempt }) => attempt !== undefined)).slice(0, limit)
          return { items, total: items.length }
        },
        listPatterns: async () => patterns,
        capture: async ({ mac }) => ({ mac, packets: 12, dropped: 0, pcap: emptyPcap }),
        diagnose: async () => ({
          healthy: false,
          checkedAt: ago(12),
          findings: [
            { check: 'ports', severity: 'ok', what: 'boot HTTP, TFTP and DHCP listen' },
            {
              check: 'disk',
              severity: 'warning',
              what: '/var/lib/pilotlight has 2.1 GiB free; one more release of all 3 followed bootimages takes about 5.5 GiB',
              todo: 'see what can go with: pilotlight gc --dry-run; or put dataDir on a larger disk',
            },
            {
              check: 'upstream',
              severity: 'problem',
              what: 'fcos-testing cannot be read: nothing answered within 10 s',
              todo: 'see whether a proxy is needed: HTTPS_PROXY in the unit, or upstream: { proxy: … }',
            },
            { check: 'clock', severity: 'ok', what: 'the clock agrees with upstream' },
            { check: 'dhcp', severity: 'note', what: 'proxy mode: addresses come from 192.0.2.1' },
          ],
        }),
      },
      fleet: {
        showHost: async (id) => hostOf(id),
        listAudit: async ({ target }) => {
          const items = audit.filter((entry) => target === undefined || entry.target === target)
          return { items, total: items.length }
        },
      },
    },
  }
}
