import Type, { type TSchema } from 'typebox'
import type { FleetOperations } from './fleet-operations.ts'
import {
  AdoptHost,
  ArmInstall,
  AuditQuery,
  AuditSummary,
  BackupReport,
  BootQuery,
  BootSummary,
  CreatedToken,
  CreateToken,
  EndInstall,
  HostDetail,
  HostQuery,
  HostSummary,
  ImportRecords,
  ImportRecordsReport,
  InstallSummary,
  PinnableRelease,
  PinQuery,
  PinSummary,
  PutRecord,
  pageOf,
  RecordSummary,
  ReleaseMode,
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

/** Where one operation is asked for, below `/api/v1`, and what goes there and back. */
export interface FleetEndpoint {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Parameters as `:id`. */
  readonly path: string
  readonly query?: TSchema
  readonly body?: TSchema
  /** Absent: 204 and nothing. */
  readonly answer?: TSchema
  /** Names files of the machine that the service runs on, so only its user may: on the control socket alone. */
  readonly isControlOnly?: true
}

/**
 * Name of the user behind the control socket, percent-encoded, as the command line tells it. Only there it counts: the
 * mode of the socket's file has said already that he may do everything.
 */
export const controlUserHeader = 'pilotlight-user'

const strict = { additionalProperties: false } as const
const flag = Type.Optional(Type.Enum(['true', 'false']))
const reason = Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Why.' }))
/** Of every change; the revision that was seen goes into `If-Match`. */
export const ChangeQuery = Type.Object({ dryRun: flag }, strict)
/** Of a change without a body. */
export const RemoveQuery = Type.Object({ dryRun: flag, reason }, strict)
const file = Type.String({ minLength: 1, maxLength: 4096, description: 'Absolute path.' })
const listOf = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({ [name]: Type.Array(item) } as { [Key in Name]: Type.TArray<Item> }, strict)

/**
 * The fleet part of the API as a table: the routes of the listener, the client behind the command line and the OpenAPI
 * document are made from it, so that none of them can know another path.
 */
export const fleetEndpoints = {
  listHosts: { method: 'GET', path: '/hosts', query: HostQuery, answer: pageOf(HostSummary) },
  showHost: { method: 'GET', path: '/hosts/:id', answer: HostDetail },
  putHost: { method: 'PUT', path: '/hosts/:id', query: ChangeQuery, body: PutRecord, answer: HostDetail },
  removeHost: { method: 'DELETE', path: '/hosts/:id', query: RemoveQuery },
  listSeen: { method: 'GET', path: '/seen', query: SeenQuery, answer: pageOf(SeenSummary) },
  adoptHost: { method: 'POST', path: '/seen/adopt', query: ChangeQuery, body: AdoptHost, answer: HostDetail },
  importRecords: {
    method: 'POST',
    path: '/records/import',
    query: ChangeQuery,
    body: ImportRecords,
    answer: ImportRecordsReport,
  },
  exportRecords: {
    method: 'GET',
    path: '/records/export',
    query: Type.Object({ all: flag }, strict),
    answer: Type.Object({ text: Type.String({ description: 'YAML.' }) }, strict),
  },

  listGroups: { method: 'GET', path: '/groups', answer: listOf('groups', RecordSummary) },
  showGroup: { method: 'GET', path: '/groups/:name', answer: RecordSummary },
  putGroup: {
    method: 'PUT',
    path: '/groups/:name',
    query: ChangeQuery,
    body: PutRecord,
    answer: RecordSummary,
  },
  removeGroup: { method: 'DELETE', path: '/groups/:name', query: RemoveQuery },
  listProfiles: { method: 'GET', path: '/profiles', answer: listOf('profiles', RecordSummary) },
  showProfile: { method: 'GET', path: '/profiles/:name', answer: RecordSummary },
  putProfile: {
    method: 'PUT',
    path: '/profiles/:name',
    query: ChangeQuery,
    body: PutRecord,
    answer: RecordSummary,
  },
  removeProfile: { method: 'DELETE', path: '/profiles/:name', query: RemoveQuery },

  listPins: { method: 'GET', path: '/pins', query: PinQuery, answer: pageOf(PinSummary) },
  setPin: { method: 'PUT', path: '/pins', query: ChangeQuery, body: SetPin, answer: PinSummary },
  removePin: { method: 'DELETE', path: '/pins', query: ChangeQuery, body: RemovePin },
  pinnable: {
    method: 'GET',
    path: '/pins/options',
    query: Type.Object(
      {
        host: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
        stream: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
      },
      strict,
    ),
    answer: listOf('options', PinnableRelease),
  },

  setMode: { method: 'PUT', path: '/modes', query: ChangeQuery, body: SetMode },
  releaseMode: { method: 'DELETE', path: '/modes', query: ChangeQuery, body: ReleaseMode },

  listInstalls: { method: 'GET', path: '/installs', answer: listOf('installs', InstallSummary) },
  armInstall: {
    method: 'PUT',
    path: '/installs',
    query: ChangeQuery,
    body: ArmInstall,
    answer: InstallSummary,
  },
  endInstall: {
    method: 'POST',
    path: '/installs/end',
    query: ChangeQuery,
    body: EndInstall,
    answer: InstallSummary,
  },

  listBoots: { method: 'GET', path: '/boots', query: BootQuery, answer: pageOf(BootSummary) },
  listReports: { method: 'GET', path: '/reports', query: ReportQuery, answer: pageOf(ReportSummary) },
  revokeBootTokens: {
    method: 'POST',
    path: '/hosts/:id/revoke-boot-tokens',
    query: ChangeQuery,
    body: Type.Object({ reason }, strict),
  },

  listTokens: { method: 'GET', path: '/tokens', answer: listOf('tokens', TokenSummary) },
  createToken: {
    method: 'POST',
    path: '/tokens',
    query: ChangeQuery,
    body: CreateToken,
    answer: CreatedToken,
  },
  revokeToken: { method: 'DELETE', path: '/tokens/:id', query: RemoveQuery, answer: TokenSummary },

  listAudit: { method: 'GET', path: '/audit', query: AuditQuery, answer: pageOf(AuditSummary) },
  backup: {
    method: 'POST',
    path: '/backup',
    body: Type.Object({ file }, strict),
    answer: BackupReport,
    isControlOnly: true,
  },
  restore: {
    method: 'POST',
    path: '/restore',
    query: ChangeQuery,
    body: Type.Object({ file }, strict),
    answer: RestoreReport,
    isControlOnly: true,
  },
} as const satisfies Readonly<Record<string, FleetEndpoint>>

/** Operations that have no place of their own: one for groups and profiles, and the proof of who asks. */
type Shared = 'listRecords' | 'showRecord' | 'putRecord' | 'removeRecord' | 'authenticate'
type Named = Exclude<keyof FleetOperations, Shared>
/** Every operation has its place: this does not compile otherwise. */
fleetEndpoints satisfies Readonly<Record<Named, FleetEndpoint>>
