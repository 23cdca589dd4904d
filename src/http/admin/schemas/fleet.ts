import Type, { type Static, type TSchema } from 'typebox'
import { architectures } from '../../../core/arch.ts'
import { apiRoles, installStates, reportStates } from '../../../core/fleet.ts'
import { bootModes } from '../../../core/host.ts'
import { BootSummary } from './boots.ts'
import { maxListLimit } from './list-limit.ts'
import { line, word } from './text.ts'

export { maxListLimit }

/**
 * What the fleet part of the API takes and gives. Routes, OpenAPI document, control client and command line are made
 * from these, so a field is described once. Times are ISO 8601 in UTC.
 */

const strict = { additionalProperties: false } as const
const optional = Type.Optional

const time = (description: string) => Type.String({ description, examples: ['2026-12-31T18:00:00Z'] })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const Arch = Type.Enum([...architectures])
const Mode = Type.Enum([...bootModes])
const Spec = Type.Record(Type.String(), Type.Unknown())

/** Pages of a list: `next` is handed back as `after`; absent on the last page. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { items: Type.Array(item), total: count('All that match.'), next: optional(Type.String()) },
    strict,
  )

const paging = {
  limit: optional(Type.Integer({ minimum: 1, maximum: maxListLimit, description: 'Default: 100.' })),
  after: optional(word('`next` of the page before.', 300)),
}

export const Target = Type.Object(
  { kind: Type.Enum(['host', 'group']), name: word('Id of the host, name of the group.', 63) },
  strict,
)

/** Who set something at run time, when and why. */
const stamp = {
  by: Type.String(),
  at: time('When it was set.'),
  reason: optional(Type.String()),
  until: optional(time('From then on it does not count.')),
}

export const EffectiveValue = Type.Object(
  {
    field: Type.String(),
    value: Type.String(),
    origin: Type.String({ description: 'The place that says so.' }),
  },
  strict,
)

// ---- pins

export const PinFile = Type.Object(
  {
    arch: Arch,
    state: Type.String({ description: 'ready, queued, fetching, failed, held or unresolvable.' }),
    text: optional(Type.String({ description: 'One sentence: how far, or why not.' })),
    doneBytes: optional(Type.Number()),
    totalBytes: optional(Type.Number()),
    bytesPerSecond: optional(Type.Number()),
  },
  strict,
)

/** Profiles pin in records alone. */
const PinTarget = Type.Object(
  {
    kind: Type.Enum(['host', 'group', 'profile']),
    name: word('Id of the host, name of the group or profile.', 63),
  },
  strict,
)

export const PinSummary = Type.Object(
  {
    target: PinTarget,
    release: Type.String(),
    stream: optional(Type.String({ description: 'Absent: whatever each host of the group follows.' })),
    arch: optional(Arch),
    origin: Type.String({ description: 'File and line, or who and when.' }),
    /** Set at run time, so it can be removed here; what files say is changed in the file. */
    isRunTime: Type.Boolean(),
    isExpired: Type.Boolean(),
    /** Its host or group is not there any more. */
    isOrphan: Type.Boolean(),
    ...stamp,
    by: optional(Type.String()),
    at: optional(Type.String()),
    /** Whether it can be booted, for each architecture that needs it. */
    files: Type.Array(PinFile),
    hosts: count('Hosts for which it is the pin in force.'),
  },
  strict,
)

export const SetPin = Type.Object(
  {
    target: Target,
    release: word(
      'A release of the stream, as its metadata spells it, or `current` for what is current now.',
      128,
    ),
    stream: optional(word('Default: the stream that the target follows.', 63)),
    arch: optional(Arch),
    reason: optional(line('Why; shown wherever the pin is.')),
    until: optional(
      word('When it ends: 2026-12-31, a moment with its zone, or a time from now such as 48h.', 64),
    ),
  },
  strict,
)
export const RemovePin = Type.Object(
  { target: Target, arch: optional(Arch), reason: optional(line('Why.')) },
  strict,
)
export const PinQuery = Type.Object(
  {
    ...paging,
    host: optional(word('Of this host.', 63)),
    group: optional(word('Of this group.', 63)),
    stream: optional(word('Of this stream.', 63)),
    release: optional(word('To this release.', 128)),
  },
  strict,
)
/** What `pin` can offer. */
export const PinnableRelease = Type.Object(
  {
    stream: Type.String(),
    arch: Arch,
    release: Type.String(),
    state: Type.String(),
    isCurrent: Type.Boolean(),
    text: optional(Type.String()),
  },
  strict,
)

// ---- modes and installs

export const SetMode = Type.Object(
  {
    target: Target,
    mode: Type.Enum(['hold', 'local', 'live']),
    reason: optional(line('Why; a held machine shows it.')),
    until: optional(word('When it ends.', 64)),
  },
  strict,
)
export const ReleaseMode = Type.Object({ target: Target, reason: optional(line('Why.')) }, strict)

export const ArmInstall = Type.Object(
  {
    host: word('Id of the host.', 63),
    device: optional(word('The disk; default: what its settings say.', 210)),
    mostServes: optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Install scripts handed out at most. Default: 5.',
      }),
    ),
    until: optional(word('When it ends. Default: 24h.', 64)),
    reason: optional(line('Why.')),
  },
  strict,
)
export const InstallQuery = Type.Object(
  {
    ...paging,
    host: optional(word('Of this host.', 63)),
    state: optional(Type.Enum([...installStates], { description: 'In this state.' })),
  },
  strict,
)
/** `installed`: an admin says that it is done. `disarm`: it is not to be installed after all. */
export const EndInstall = Type.Object(
  {
    host: word('Id of the host.', 63),
    as: Type.Enum(['installed', 'disarm']),
    reason: optional(line('Why.')),
  },
  strict,
)
export const InstallSummary = Type.Object(
  {
    host: Type.String(),
    source: Type.Enum(['file', 'admin']),
    state: Type.Enum([...installStates]),
    generation: Type.Integer(),
    device: optional(Type.String()),
    armedAt: Type.String(),
    armedBy: Type.String(),
    reason: optional(Type.String()),
    serves: Type.Integer(),
    mostServes: Type.Integer(),
    until: Type.String(),
    failure: optional(Type.Object({ at: Type.String(), message: optional(Type.String()) }, strict)),
    changedAt: Type.String(),
    changedBy: Type.String(),
    next: optional(Type.String({ description: 'What the host boots next, and why; told when it is armed.' })),
  },
  strict,
)

// ---- hosts

export const HostSummary = Type.Object(
  {
    id: Type.String(),
    macs: Type.Array(Type.String()),
    arch: optional(Arch),
    labels: Type.Record(Type.String(), Type.String()),
    groups: Type.Array(Type.String()),
    profile: optional(Type.String()),
    stream: optional(Type.String()),
    mode: optional(Mode),
    /** What it would boot now, and the reason that decides. */
    decision: Type.String(),
    reason: Type.String(),
    release: optional(Type.String()),
    pin: optional(Type.Object({ release: Type.String(), origin: Type.String() }, strict)),
    /** `file` records are changed in their file; what an admin sets at run time is possible for both. */
    source: Type.Enum(['file', 'api']),
    lastSeenAt: optional(Type.String()),
    /** Something an admin should look at, in words. */
    flags: Type.Array(Type.String()),
  },
  strict,
)

export const ReportSummary = Type.Object(
  {
    bootId: Type.String(),
    status: Type.Enum([...reportStates]),
    at: Type.String(),
    host: optional(Type.String()),
    mac: optional(Type.String()),
    address: optional(Type.String()),
    bootimage: optional(Type.String()),
    osVersion: optional(Type.String()),
    kernelCommandLineSha256: optional(Type.String()),
    machineId: optional(Type.String()),
    message: optional(Type.String()),
  },
  strict,
)

export const HostDetail = Type.Object(
  {
    ...HostSummary.properties,
    uuid: optional(Type.String()),
    serial: optional(Type.String()),
    address: optional(Type.String()),
    hostName: optional(Type.String()),
    origin: Type.String(),
    /** Of an API record: what was accepted, as it was sent; secrets are not shown. */
    spec: optional(Spec),
    /** Of an API record; also in the header `ETag`. */
    revision: optional(Type.Integer()),
    values: Type.Array(EffectiveValue),
    reasons: Type.Array(Type.Object({ code: Type.String(), text: Type.String() }, strict)),
    pins: Type.Array(PinSummary),
    runTimeMode: optional(Type.Object({ mode: Mode, ...stamp }, strict)),
    install: optional(InstallSummary),
    boots: Type.Array(BootSummary),
    reports: Type.Array(ReportSummary),
  },
  strict,
)
export const HostQuery = Type.Object(
  {
    ...paging,
    search: optional(word('Part of an id, MAC, serial or host name.')),
    label: optional(word('key=value', 130)),
    group: optional(word('Of this group.', 63)),
    profile: optional(word('With this profile.', 63)),
    stream: optional(word('Following this stream.', 63)),
    mode: optional(Mode),
    source: optional(Type.Enum(['file', 'api'])),
  },
  strict,
)
export const SeenSummary = Type.Object(
  {
    mac: Type.String(),
    firstSeenAt: Type.String(),
    lastSeenAt: Type.String(),
    count: Type.Integer(),
    uuid: optional(Type.String()),
    serial: optional(Type.String()),
    arch: optional(Arch),
    firmware: optional(Type.String()),
    address: optional(Type.String()),
    decision: optional(Type.String()),
  },
  strict,
)
export const SeenQuery = Type.Object({ ...paging }, strict)
export const AdoptHost = Type.Object(
  {
    mac: word('As `host seen` lists it, in any spelling.', 32),
    id: optional(word('Default: made from the MAC.', 63)),
    /** `profile` in it: default that of unknown machines, unless a group gives one. */
    spec: optional(Spec),
    reason: optional(line('Why.')),
  },
  strict,
)
export const ImportRecords = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: 64 * 1024 * 1024,
      description: 'YAML or JSON as `host export` writes it and as a file of hosts.d holds it.',
    }),
    name: word('What problems call it.', 4096),
    /** `replace`: API records that are not in it are removed. */
    mode: Type.Enum(['merge', 'replace']),
    reason: optional(line('Why.')),
  },
  strict,
)
export const ImportRecordsReport = Type.Object(
  {
    dryRun: Type.Boolean(),
    added: count('New.'),
    changed: count('Changed.'),
    unchanged: count('As they were.'),
    removed: count('Not in it.'),
  },
  strict,
)

// ---- groups and profiles

export const RecordSummary = Type.Object(
  {
    kind: Type.Enum(['group', 'profile']),
    name: Type.String(),
    source: Type.Enum(['file', 'api']),
    origin: Type.String(),
    spec: Spec,
    revision: optional(Type.Integer()),
    hosts: count('Hosts that it counts for.'),
  },
  strict,
)
export const PutRecord = Type.Object({ spec: Spec, reason: optional(line('Why.')) }, strict)

// ---- tokens, audit, boots

export const TokenSummary = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    role: Type.Enum([...apiRoles]),
    createdAt: Type.String(),
    createdBy: Type.String(),
    expiresAt: optional(Type.String()),
    revokedAt: optional(Type.String()),
    lastUsedAt: optional(Type.String()),
  },
  strict,
)
export const CreateToken = Type.Object(
  {
    name: word('Who uses it.', 63),
    role: Type.Enum([...apiRoles]),
    until: optional(word('When it ends. Default: 90d.', 64)),
    reason: optional(line('Why.')),
  },
  strict,
)
/** `secret` is told once. */
export const CreatedToken = Type.Object({ token: TokenSummary, secret: Type.String() }, strict)
export const AuditSummary = Type.Object(
  {
    id: Type.Integer(),
    at: Type.String(),
    by: Type.String(),
    via: Type.String(),
    action: Type.String(),
    target: Type.String(),
    summary: Type.String(),
    reason: optional(Type.String()),
  },
  strict,
)
export const AuditQuery = Type.Object(
  {
    ...paging,
    target: optional(word('host/<id>, group/<name> …')),
    by: optional(word('Who.')),
    action: optional(word('What.', 64)),
    since: optional(word('Not before this.', 64)),
  },
  strict,
)
export const ReportQuery = Type.Object(
  { ...paging, host: optional(word('Of this host.', 63)), boot: optional(word('Of this boot.', 22)) },
  strict,
)
export const BackupReport = Type.Object(
  { file: Type.String(), sizeBytes: Type.Integer(), schemaVersion: Type.Integer() },
  strict,
)
export const RestoreReport = Type.Object(
  {
    file: Type.String(),
    records: count('Hosts, groups and profiles.'),
    settings: count('Pins and modes.'),
    installs: count('Installs.'),
    tokens: count('Tokens.'),
    pinnedReleases: count('Resolved pins.'),
  },
  strict,
)

export type EffectiveValue = Static<typeof EffectiveValue>
export type Target = Static<typeof Target>
export type PinFile = Static<typeof PinFile>
export type PinSummary = Static<typeof PinSummary>
export type SetPin = Static<typeof SetPin>
export type RemovePin = Static<typeof RemovePin>
export type PinQuery = Static<typeof PinQuery>
export type PinnableRelease = Static<typeof PinnableRelease>
export type SetMode = Static<typeof SetMode>
export type ReleaseMode = Static<typeof ReleaseMode>
export type ArmInstall = Static<typeof ArmInstall>
export type EndInstall = Static<typeof EndInstall>
export type InstallSummary = Static<typeof InstallSummary>
export type HostSummary = Static<typeof HostSummary>
export type HostDetail = Omit<Static<typeof HostDetail>, 'boots'> & { readonly boots: readonly BootSummary[] }
export type HostQuery = Static<typeof HostQuery>
export type ReportSummary = Static<typeof ReportSummary>
export type SeenSummary = Static<typeof SeenSummary>
export type SeenQuery = Static<typeof SeenQuery>
export type AdoptHost = Static<typeof AdoptHost>
export type ImportRecords = Static<typeof ImportRecords>
export type ImportRecordsReport = Static<typeof ImportRecordsReport>
export type RecordSummary = Static<typeof RecordSummary>
export type PutRecord = Static<typeof PutRecord>
export type TokenSummary = Static<typeof TokenSummary>
export type CreateToken = Static<typeof CreateToken>
export type CreatedToken = Static<typeof CreatedToken>
export type AuditSummary = Static<typeof AuditSummary>
export type AuditQuery = Static<typeof AuditQuery>
export type ReportQuery = Static<typeof ReportQuery>
export type BackupReport = Static<typeof BackupReport>
export type RestoreReport = Static<typeof RestoreReport>
