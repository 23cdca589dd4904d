import Type, { type TSchema } from 'typebox'
import type { Endpoint, Endpoints } from './endpoint.ts'
import type { FleetOperations } from './fleet-operations.ts'
import {
  AdoptHost,
  ArmInstall,
  AuditQuery,
  AuditSummary,
  BackupReport,
  CreatedToken,
  CreateToken,
  EndInstall,
  HostDetail,
  HostQuery,
  HostSummary,
  ImportRecords,
  ImportRecordsReport,
  InstallQuery,
  InstallSummary,
  PinnableRelease,
  PinQuery,
  PinSummary,
  PutRecord,
  pageOf,
  RecordSummary,
  RemovePin,
  ReportQuery,
  ReportSummary,
  RestoreReport,
  SeenQuery,
  SeenSummary,
  SetMode,
  SetPin,
  TokenSummary,
} from './schemas/fleet.ts'
import { line, word } from './schemas/text.ts'

/**
 * Name of the user behind the control socket, percent-encoded, as the command line tells it. Only there it counts: the
 * mode of the socket's file has said already that he may do everything.
 */
export const controlUserHeader = 'pilotlight-user'

/** An inline Ignition config may be a quarter of a MiB, and JSON spells a character with up to six bytes. */
const maxRecordBytes = 2 * 2 ** 20
/** Twice the text that `ImportRecords` takes. */
const maxImportBytes = 128 * 2 ** 20
const strict = { additionalProperties: false } as const
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const dryRun = flag('Check everything, answer as if, and change nothing.')
const reason = Type.Optional(line('Why.'))
const name = (description: string) => word(description, 63)
const HostId = Type.Object({ id: name('Id of a host.') }, strict)
const Name = Type.Object({ name: name('Name of a group or profile.') }, strict)
const TokenId = Type.Object({ id: name('Public part of a token.') }, strict)
const TargetName = Type.Object(
  { kind: Type.Enum(['host', 'group']), name: name('Id of the host, name of the group.') },
  strict,
)
/** Of every change; the revision that was seen goes into `If-Match`. */
export const ChangeQuery = Type.Object({ dryRun }, strict)
/** Of a change without a body. */
export const RemoveQuery = Type.Object({ dryRun, reason }, strict)
const file = word('Absolute path.', 4096)
const listOf = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({ [name]: Type.Array(item) } as { [Key in Name]: Type.TArray<Item> }, strict)

/**
 * The fleet part of the API as a table: the routes of the listener, the client behind the command line and the OpenAPI
 * document are made from it, so that none of them can know another path.
 */
export const fleetEndpoints = {
  listHosts: {
    method: 'GET',
    path: '/hosts',
    summary: 'Hosts, by id; files and API records alike.',
    query: HostQuery,
    answer: pageOf(HostSummary),
  },
  showHost: {
    method: 'GET',
    path: '/hosts/:id',
    params: HostId,
    hasRevision: true,
    summary: 'One host: its record, each value with its origin, pins, install, last boots and reports.',
    answer: HostDetail,
  },
  putHost: {
    method: 'PUT',
    path: '/hosts/:id',
    params: HostId,
    hasRevision: true,
    summary: 'Make or replace an API record.',
    query: ChangeQuery,
    body: PutRecord,
    maxBodyBytes: maxRecordBytes,
    answer: HostDetail,
  },
  removeHost: {
    method: 'DELETE',
    path: '/hosts/:id',
    params: HostId,
    hasRevision: true,
    summary: 'Remove an API record.',
    query: RemoveQuery,
  },
  listSeen: {
    method: 'GET',
    path: '/seen',
    summary: 'Machines that no record matches, last seen first.',
    query: SeenQuery,
    answer: pageOf(SeenSummary),
  },
  adoptHost: {
    method: 'POST',
    path: '/seen/adopt',
    summary:
      'Make a record of a machine that was seen; it keeps the profile of unknown machines where nothing gives it another.',
    query: ChangeQuery,
    body: AdoptHost,
    maxBodyBytes: maxRecordBytes,
    answer: HostDetail,
  },
  importRecords: {
    method: 'POST',
    path: '/records/import',
    summary: 'Take in many hosts, groups and profiles at once, all or nothing.',
    query: ChangeQuery,
    body: ImportRecords,
    maxBodyBytes: maxImportBytes,
    answer: ImportRecordsReport,
  },
  exportRecords: {
    method: 'GET',
    path: '/records/export',
    summary: 'The records as YAML; secrets in inline Ignition configs are in it.',
    needsWrite: true,
    query: Type.Object({ all: flag('Files as well, not API records alone.') }, strict),
    answer: Type.Object({ text: Type.String({ description: 'YAML.' }) }, strict),
  },

  listGroups: {
    method: 'GET',
    path: '/groups',
    summary: 'Groups and how many hosts they match.',
    answer: listOf('groups', RecordSummary),
  },
  showGroup: {
    method: 'GET',
    path: '/groups/:name',
    params: Name,
    hasRevision: true,
    summary: 'One group.',
    answer: RecordSummary,
  },
  putGroup: {
    method: 'PUT',
    path: '/groups/:name',
    params: Name,
    hasRevision: true,
    summary: 'Make or replace an API record.',
    query: ChangeQuery,
    body: PutRecord,
    maxBodyBytes: maxRecordBytes,
    answer: RecordSummary,
  },
  removeGroup: {
    method: 'DELETE',
    path: '/groups/:name',
    params: Name,
    hasRevision: true,
    summary: 'Remove an API record.',
    query: RemoveQuery,
  },
  listProfiles: {
    method: 'GET',
    path: '/profiles',
    summary: 'Profiles and how many hosts have them.',
    answer: listOf('profiles', RecordSummary),
  },
  showProfile: {
    method: 'GET',
    path: '/profiles/:name',
    params: Name,
    hasRevision: true,
    summary: 'One profile.',
    answer: RecordSummary,
  },
  putProfile: {
    method: 'PUT',
    path: '/profiles/:name',
    params: Name,
    hasRevision: true,
    summary: 'Make or replace an API record.',
    query: ChangeQuery,
    body: PutRecord,
    maxBodyBytes: maxRecordBytes,
    answer: RecordSummary,
  },
  removeProfile: {
    method: 'DELETE',
    path: '/profiles/:name',
    params: Name,
    hasRevision: true,
    summary: 'Remove an API record.',
    query: RemoveQuery,
  },

  listPins: {
    method: 'GET',
    path: '/pins',
    summary: 'Pins of files and of admins, with the state of their files.',
    query: PinQuery,
    answer: pageOf(PinSummary),
  },
  setPin: {
    method: 'PUT',
    path: '/pins',
    summary: 'Pin a host or group to a release; it is fetched at once.',
    query: ChangeQuery,
    body: SetPin,
    answer: PinSummary,
  },
  removePin: {
    method: 'DELETE',
    path: '/pins/:kind/:name',
    summary: 'Remove a pin that was set at run time.',
    params: TargetName,
    query: Type.Object({ arch: RemovePin.properties.arch, dryRun, reason }, strict),
  },
  pinnable: {
    method: 'GET',
    path: '/pins/options',
    summary: 'Releases that can be pinned.',
    query: Type.Object(
      {
        host: Type.Optional(name('For this host.')),
        stream: Type.Optional(name('Of this stream.')),
      },
      strict,
    ),
    answer: listOf('options', PinnableRelease),
  },

  setMode: {
    method: 'PUT',
    path: '/modes',
    summary: 'Hold a host or group, boot it from its disk, or live.',
    query: ChangeQuery,
    body: SetMode,
  },
  releaseMode: {
    method: 'DELETE',
    path: '/modes/:kind/:name',
    summary: 'Back to what the records say.',
    params: TargetName,
    query: RemoveQuery,
  },

  listInstalls: {
    method: 'GET',
    path: '/installs',
    summary: 'Where the installing of each host stands.',
    query: InstallQuery,
    answer: pageOf(InstallSummary),
  },
  armInstall: {
    method: 'PUT',
    path: '/installs',
    summary: 'Install a host once.',
    query: ChangeQuery,
    body: ArmInstall,
    answer: InstallSummary,
  },
  endInstall: {
    method: 'POST',
    path: '/installs/end',
    summary: 'Say that an install is done, or is not to happen.',
    query: ChangeQuery,
    body: EndInstall,
    answer: InstallSummary,
  },

  listReports: {
    method: 'GET',
    path: '/reports',
    summary: 'What nodes said of their boots, newest first.',
    query: ReportQuery,
    answer: pageOf(ReportSummary),
  },
  revokeBootTokens: {
    method: 'POST',
    path: '/hosts/:id/revoke-boot-tokens',
    params: HostId,
    summary: 'Ignition and report tokens handed out until now count no more.',
    query: ChangeQuery,
    body: Type.Object({ reason }, strict),
  },

  listTokens: {
    method: 'GET',
    path: '/tokens',
    summary: 'Tokens of this API, without their secrets.',
    answer: listOf('tokens', TokenSummary),
  },
  createToken: {
    method: 'POST',
    path: '/tokens',
    summary: 'Make a token; its secret is told once.',
    query: ChangeQuery,
    body: CreateToken,
    answer: CreatedToken,
    // A token that leaked would make itself another one, which stays when the first is revoked.
    isControlOnly: true,
  },
  revokeToken: {
    method: 'DELETE',
    path: '/tokens/:id',
    params: TokenId,
    summary: 'End a token.',
    query: RemoveQuery,
    answer: TokenSummary,
  },

  listAudit: {
    method: 'GET',
    path: '/audit',
    summary: 'Who changed what, when and why, newest first.',
    query: AuditQuery,
    answer: pageOf(AuditSummary),
  },
  backup: {
    method: 'POST',
    path: '/backup',
    summary: 'Write a copy of the state to a file.',
    body: Type.Object({ file }, strict),
    answer: BackupReport,
    isControlOnly: true,
  },
  restore: {
    method: 'POST',
    path: '/restore',
    summary: 'Take records, pins, installs and tokens out of a backup.',
    query: ChangeQuery,
    body: Type.Object({ file }, strict),
    answer: RestoreReport,
    isControlOnly: true,
  },
} as const satisfies Endpoints

/** Operations that have no place of their own: one for groups and profiles, and the proof of who asks. */
type Shared = 'listRecords' | 'showRecord' | 'putRecord' | 'removeRecord' | 'authenticate'
type Named = Exclude<keyof FleetOperations, Shared>
/** Every operation has its place: this does not compile otherwise. */
fleetEndpoints satisfies Readonly<Record<Named, Endpoint>>
