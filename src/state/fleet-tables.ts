import type { Generated } from 'kysely'

/** What admins and nodes said, as SQL sees it; see `tables.ts` for how values are kept. */
export interface FleetTables {
  fleet_record: FleetRecordRow
  run_time_setting: RunTimeSettingRow
  install: InstallRow
  api_token: ApiTokenRow
  boot_token_revocation: RevocationRow
  node_report: NodeReportRow
  audit_entry: Omit<AuditEntryRow, 'id'> & { readonly id: Generated<number> }
  seen_machine: SeenMachineRow
  secret: SecretRow
}

export interface FleetRecordRow {
  readonly kind: string
  readonly name: string
  readonly spec: string
  readonly revision: number
  readonly created_at: number
  readonly created_by: string
  readonly changed_at: number
  readonly changed_by: string
}

/** `release_version`, `stream` and `arch` are a pin's, `mode` is a mode's. */
export interface RunTimeSettingRow {
  readonly id: string
  readonly kind: string
  readonly target_kind: string
  readonly target_name: string
  readonly set_by: string
  readonly set_at: number
  readonly reason: string | null
  readonly until: number | null
  readonly macs: string | null
  readonly release_version: string | null
  readonly stream: string | null
  readonly arch: string | null
  readonly mode: string | null
}

export interface InstallRow {
  readonly host: string
  readonly source: string
  readonly state: string
  readonly generation: number
  readonly file_generation: number
  readonly device: string | null
  readonly armed_at: number
  readonly armed_by: string
  readonly reason: string | null
  readonly serves: number
  readonly most_serves: number
  readonly until: number
  readonly failure: string | null
  readonly changed_at: number
  readonly changed_by: string
  readonly marks: string | null
}

export interface ApiTokenRow {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly hash: string
  readonly created_at: number
  readonly created_by: string
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

export interface RevocationRow {
  readonly host: string
  readonly revoked_before: number
}

export interface NodeReportRow {
  readonly boot_id: string
  readonly status: string
  readonly at: number
  readonly host: string | null
  readonly mac: string | null
  readonly address: string | null
  readonly bootimage: string | null
  readonly os_version: string | null
  readonly kernel_command_line_sha256: string | null
  readonly machine_id: string | null
  readonly message: string | null
}

/** `id` is given by the database and never twice. */
export interface AuditEntryRow {
  readonly id: number
  readonly at: number
  readonly done_by: string
  readonly via: string
  readonly action: string
  readonly target: string
  readonly summary: string
  readonly reason: string | null
}

export interface SeenMachineRow {
  readonly mac: string
  readonly first_seen_at: number
  readonly last_seen_at: number
  readonly seen_count: number
  readonly uuid: string | null
  readonly serial: string | null
  readonly arch: string | null
  readonly firmware: string | null
  readonly address: string | null
  readonly decision: string | null
}

/** `value` is base64. */
export interface SecretRow {
  readonly name: string
  readonly value: string
}
