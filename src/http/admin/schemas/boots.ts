import Type, { type Static, type TSchema } from 'typebox'
import { attemptOutcomes, attemptStates, bootPhases } from '../../../core/boot-attempt.ts'
import { bootPatternCodes } from '../../../core/boot-pattern.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import { maxListLimit } from './list-limit.ts'
import { word } from './text.ts'

/** What the API tells of boots. Times are ISO 8601 in UTC, durations ms. */

const strict = { additionalProperties: false } as const
const optional = Type.Optional
const text = (description: string) => Type.String({ description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const Phase = Type.Enum([...bootPhases])

export const DiagnosisSummary = Type.Object(
  {
    code: Type.Enum([...bootPatternCodes]),
    text: text('What was seen.'),
    remedy: text('What to do.'),
    at: text('Since when.'),
  },
  strict,
)

export const BootTransfer = Type.Object(
  {
    role: Type.String(),
    name: optional(Type.String()),
    sentBytes: Type.Number(),
    totalBytes: Type.Number(),
    percent: count('0 to 100.'),
    bytesPerSecond: optional(Type.Number()),
    isDone: Type.Boolean(),
  },
  strict,
)

export const BootSummary = Type.Object(
  {
    id: text('Of the attempt; they sort by time.'),
    bootId: optional(text('Of its last decision.')),
    host: optional(Type.String()),
    mac: optional(
      text('The card that boots: of the last decision, before that the one that was heard last.'),
    ),
    otherMacs: optional(
      Type.Array(Type.String(), { description: 'Cards of the same machine that tried in this boot too.' }),
    ),
    address: optional(Type.String()),
    arch: optional(Type.String()),
    firmware: optional(Type.String()),
    state: Type.Enum([...attemptStates]),
    outcome: optional(Type.Enum([...attemptOutcomes])),
    phase: Phase,
    /** Its last step, one sentence. */
    step: Type.String(),
    startedAt: Type.String(),
    lastAt: Type.String(),
    endedAt: optional(Type.String()),
    durationMs: Type.Number(),
    decision: optional(Type.String({ description: 'live, install, local, wait, hold …' })),
    /** The sentence of the reason that decided. */
    reason: optional(Type.String()),
    bootimage: optional(Type.String()),
    release: optional(Type.String()),
    osVersion: optional(Type.String()),
    transfer: optional(BootTransfer),
    diagnosis: optional(DiagnosisSummary),
  },
  strict,
)

export const BootDetail = Type.Object(
  {
    ...BootSummary.properties,
    bootIds: Type.Array(Type.String()),
    uuid: optional(Type.String()),
    serial: optional(Type.String()),
    loader: optional(Type.String()),
    reasons: Type.Array(Type.Object({ code: Type.String(), text: Type.String() }, strict)),
    phases: Type.Array(
      Type.Object(
        {
          phase: Phase,
          startedAt: Type.String(),
          endedAt: optional(Type.String()),
          durationMs: Type.Number(),
          /** How long it may take before the boot counts as stuck. */
          limitMs: optional(Type.Number()),
        },
        strict,
      ),
    ),
    steps: Type.Array(
      Type.Object(
        {
          at: Type.String(),
          lastAt: Type.String(),
          count: count('How often it came.'),
          /** After the start. */
          offsetMs: Type.Number(),
          phase: Phase,
          type: Type.String(),
          text: Type.String(),
          tone: Type.Enum(['normal', 'good', 'bad']),
        },
        strict,
      ),
    ),
    leftOut: count('Steps that were too many to be kept.'),
  },
  strict,
)

/** The states of a machine, as admins look for them. `idle`: nothing of it in this run of the service, or long ago. */
export const machineStates = [
  'stuck',
  'failed',
  'running',
  'waiting',
  'held',
  'booted',
  'installed',
  'served',
  'local',
  'idle',
] as const
export const MachineState = Type.Enum([...machineStates])

export const MachineRow = Type.Object(
  {
    /** Host id, else its MAC: names the row. */
    key: Type.String(),
    host: optional(Type.String()),
    mac: optional(Type.String()),
    state: MachineState,
    /** Current or last step, one sentence. */
    step: optional(Type.String()),
    phase: optional(Phase),
    transfer: optional(BootTransfer),
    stream: optional(Type.String()),
    mode: optional(Type.String()),
    groups: Type.Array(Type.String()),
    profile: optional(Type.String()),
    /** That it runs or boots, as far as it is known. */
    release: optional(Type.String()),
    pin: optional(Type.Object({ release: Type.String(), origin: Type.String() }, strict)),
    attempt: optional(text('Id of its last boot.')),
    lastSeenAt: optional(Type.String()),
    diagnosis: optional(DiagnosisSummary),
    flags: Type.Array(Type.String()),
  },
  strict,
)

export const MachineQuery = Type.Object(
  {
    limit: optional(Type.Integer({ minimum: 1, maximum: maxListLimit, description: 'Default: 100.' })),
    page: optional(Type.Integer({ minimum: 1, maximum: 100_000, description: 'Default: 1.' })),
    /** Only these rows, whatever page they are on. */
    keys: optional(Type.Array(word('Host id or MAC.', 64), { maxItems: 200 })),
    search: optional(word('Part of an id, MAC, serial or host name.')),
    state: optional(MachineState),
    stream: optional(word('Following this stream.', 63)),
    release: optional(word('On this release.', 128)),
    group: optional(word('Of this group.', 63)),
    sort: optional(
      Type.Enum(['state', 'host', 'seen'], { description: 'Default: what needs a person first.' }),
    ),
  },
  strict,
)

export const MachinePage = Type.Object(
  {
    items: Type.Array(MachineRow),
    total: count('All that match.'),
    /** Of all machines, whatever the filters. */
    counts: Type.Record(Type.String(), Type.Integer()),
    needs: count(
      'Of all machines: those that need a person, by their state or what is wrong with their last boot.',
    ),
    /** What can be filtered by. */
    releases: Type.Array(Type.String()),
    groups: Type.Array(Type.String()),
    streams: Type.Array(Type.String()),
  },
  strict,
)

export const PatternSummary = Type.Object(
  {
    code: Type.Enum([...bootPatternCodes]),
    title: Type.String(),
    text: Type.String(),
    remedy: Type.String(),
    cases: Type.Array(Type.Integer()),
    /** That show it now: host ids or MACs, at most 20. */
    machines: Type.Array(Type.String()),
    /** Of these machines: what is told of each, with its own facts. */
    diagnoses: Type.Array(
      Type.Object({ machine: Type.String(), text: Type.String(), remedy: Type.String() }, strict),
    ),
    count: count('All machines that show it now.'),
  },
  strict,
)

export const Capture = Type.Object(
  {
    mac: Type.String(),
    packets: Type.Integer(),
    oldest: optional(Type.String()),
    newest: optional(Type.String()),
    /** Packets that made room for newer ones. */
    dropped: Type.Integer(),
    /** A pcap file (magic a1b2c3d4, Ethernet), base64. */
    pcap: Type.String(),
  },
  strict,
)

export const DoctorReport = Type.Object(
  {
    healthy: Type.Boolean(),
    checkedAt: Type.String(),
    findings: Type.Array(
      Type.Object(
        {
          check: Type.String(),
          severity: Type.Enum(['ok', 'note', 'warning', 'problem']),
          what: Type.String(),
          todo: optional(Type.String()),
        },
        strict,
      ),
    ),
  },
  strict,
)

export const BootQuery = Type.Object(
  {
    limit: optional(Type.Integer({ minimum: 1, maximum: maxListLimit, description: 'Default: 100.' })),
    after: optional(word('`next` of the page before.', 300)),
    host: optional(word('Of this host.', 63)),
    mac: optional(word('Of this card.', 32)),
    state: optional(Type.Enum([...attemptStates])),
    outcome: optional(Type.Enum([...attemptOutcomes])),
    pattern: optional(Type.Enum([...bootPatternCodes])),
    since: optional(word('Not before this.', 64)),
  },
  strict,
)

type Plain<Schema extends TSchema> = DeepReadonly<Static<Schema>>
export type DiagnosisSummary = Plain<typeof DiagnosisSummary>
export type BootTransfer = Plain<typeof BootTransfer>
export type BootSummary = Plain<typeof BootSummary>
export type BootDetail = Plain<typeof BootDetail>
export type MachineState = (typeof machineStates)[number]
export type MachineRow = Plain<typeof MachineRow>
export type MachineQuery = Plain<typeof MachineQuery>
export type MachinePage = Plain<typeof MachinePage>
export type PatternSummary = Plain<typeof PatternSummary>
export type Capture = Plain<typeof Capture>
export type DoctorReport = Plain<typeof DoctorReport>
export type BootQuery = Plain<typeof BootQuery>
