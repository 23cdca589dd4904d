import type { Actor, ApiRole, RecordKind } from '../../core/fleet.ts'
import type {
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
  InstallSummary,
  PinnableRelease,
  PinQuery,
  PinSummary,
  PutRecord,
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

/** How a change is made. */
export interface ChangeOptions {
  readonly actor: Actor
  /** Everything is checked and answered as if, and nothing is changed. */
  readonly dryRun?: boolean
  /** The revision that the caller has seen; 0: there must be none yet. Absent: whatever there is. */
  readonly ifRevision?: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly next?: string
}

export type GroupOrProfile = Exclude<RecordKind, 'host'>

/**
 * Everything an admin can ask and do about machines, whoever asks. Every change that resolved is on disk, with an
 * entry in the audit list, and counts for the next packet.
 * @throws ServiceError from every method: USAGE (a value is wrong; `field`, `hint`), NOT_FOUND, CONFLICT (it changed
 *   meanwhile, is declared in a file, or its MAC belongs to another host), STATE_UNAVAILABLE (nothing was changed)
 */
export interface FleetOperations {
  listHosts(query: HostQuery): Promise<Page<HostSummary>>
  showHost(id: string): Promise<HostDetail>
  /** Creates or replaces an API record; `spec` is what a file would say under `hosts:`, without `id`. */
  putHost(id: string, body: PutRecord, change: ChangeOptions): Promise<HostDetail>
  removeHost(id: string, change: ChangeOptions & { readonly reason?: string }): Promise<void>
  importRecords(body: ImportRecords, change: ChangeOptions): Promise<ImportRecordsReport>
  /** YAML of all API records, or of everything that is in force, files as well. Inline secrets are in it. */
  exportRecords(request: { readonly all: boolean }): Promise<string>
  listSeen(query: SeenQuery): Promise<Page<SeenSummary>>
  adoptHost(body: AdoptHost, change: ChangeOptions): Promise<HostDetail>

  listRecords(kind: GroupOrProfile): Promise<readonly RecordSummary[]>
  showRecord(kind: GroupOrProfile, name: string): Promise<RecordSummary>
  putRecord(
    kind: GroupOrProfile,
    name: string,
    body: PutRecord,
    change: ChangeOptions,
  ): Promise<RecordSummary>
  removeRecord(
    kind: GroupOrProfile,
    name: string,
    change: ChangeOptions & { readonly reason?: string },
  ): Promise<void>

  listPins(query: PinQuery): Promise<Page<PinSummary>>
  /** Refused at once when the release can never be had for a machine it is for; else it is fetched. */
  setPin(body: SetPin, change: ChangeOptions): Promise<PinSummary>
  removePin(body: RemovePin, change: ChangeOptions): Promise<void>
  pinnable(query: { readonly host?: string; readonly stream?: string }): Promise<readonly PinnableRelease[]>

  setMode(body: SetMode, change: ChangeOptions): Promise<void>
  /** Back to what its records say: ends a mode that was set at run time, and `local` after an install. */
  releaseMode(body: ReleaseMode, change: ChangeOptions): Promise<void>

  listInstalls(): Promise<readonly InstallSummary[]>
  armInstall(body: ArmInstall, change: ChangeOptions): Promise<InstallSummary>
  endInstall(body: EndInstall, change: ChangeOptions): Promise<InstallSummary>

  listReports(query: ReportQuery): Promise<Page<ReportSummary>>
  /** Ignition and report tokens of the host that were handed out until now do not count any more. */
  revokeBootTokens(
    request: { readonly host: string; readonly reason?: string },
    change: ChangeOptions,
  ): Promise<void>

  listTokens(): Promise<readonly TokenSummary[]>
  createToken(body: CreateToken, change: ChangeOptions): Promise<CreatedToken>
  revokeToken(id: string, change: ChangeOptions & { readonly reason?: string }): Promise<TokenSummary>
  /** Who holds this credential; from memory, in constant time. `undefined` for whatever does not count. */
  authenticate(bearer: string): { readonly actor: Actor; readonly role: ApiRole } | undefined

  listAudit(query: AuditQuery): Promise<Page<AuditSummary>>
  /** Paths are of the machine that the service runs on. */
  backup(request: { readonly file: string }): Promise<BackupReport>
  restore(request: { readonly file: string }, change: ChangeOptions): Promise<RestoreReport>
}
