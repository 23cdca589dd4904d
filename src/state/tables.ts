import type { FleetTables } from './fleet-tables.ts'

/** The tables as SQL sees them: times are ms since the epoch, digests and ids plain text, nested values JSON text. */
export interface StateTables extends FleetTables {
  document: DocumentRow
  bootimage: BootimageRow
  stream_head: StreamHeadRow
  derived: DerivedRow
  pin_resolution: PinResolutionRow
  boot_attempt: BootLeaseRow
  bootimage_lease: BootimageLeaseRow
  boot_timeline: AttemptRow
  boot_timeline_id: AttemptBootIdRow
  boot_timeline_card: AttemptCardRow
  verified_file: VerifiedFileRow
  unreadable_row: UnreadableRow
}

export interface DocumentRow {
  readonly digest: string
  readonly stream: string
  readonly format: string
  readonly source: string
  readonly label: string | null
  readonly size_bytes: number
  readonly first_seen_at: number
  readonly last_seen_at: number
}

/** `stream`, `arch` and `release_version` repeat what `bootimage` says, to be searched by. */
export interface BootimageRow {
  readonly id: string
  readonly stream: string
  readonly arch: string
  readonly release_version: string
  readonly bootimage: string
  readonly document: string
  readonly state: string
  readonly failure: string | null
  readonly first_seen_at: number
  readonly ready_at: number | null
  readonly kernel_uncompressed: string | null
}

export interface StreamHeadRow {
  readonly stream: string
  readonly arch: string
  readonly current_bootimage: string | null
  readonly previous_bootimages: string
  readonly target_bootimage: string | null
  readonly last_change: string | null
  readonly pending: string | null
  readonly changed_at: number | null
}

export interface DerivedRow {
  readonly sha256: string
  readonly made_from: string
  readonly how: string
  readonly made_at: number
}

export interface PinResolutionRow {
  readonly stream: string
  readonly arch: string
  readonly release_version: string
  readonly bootimage: string
  readonly resolved_at: number
}

export interface BootLeaseRow {
  readonly boot_id: string
  readonly host: string | null
  readonly mac: string | null
  readonly address: string | null
  readonly bootimage: string
  readonly started_at: number
  readonly last_seen_at: number
}

export interface BootimageLeaseRow {
  readonly bootimage: string
  readonly last_seen_at: number
}

/** `pattern` repeats what `diagnosis` says, to be searched by; `head` repeats some of `events`, to be listed by. */
export interface AttemptRow {
  readonly id: string
  readonly host: string | null
  readonly mac: string | null
  readonly boot_id: string | null
  readonly started_at: number
  readonly last_at: number
  readonly outcome: string | null
  readonly ended_at: number | null
  readonly pattern: string | null
  readonly diagnosis: string | null
  readonly left_out: number
  readonly head: string
  readonly events: string
}

/** Of the decisions before the last one. */
export interface AttemptBootIdRow {
  readonly boot_id: string
  readonly attempt: string
}

/** Other cards of its machine than the one that booted, each of which finds it. */
export interface AttemptCardRow {
  readonly mac: string
  readonly attempt: string
}

export interface VerifiedFileRow {
  readonly sha256: string
  readonly identity: string
  readonly verified_at: number
  readonly signature_sha256: string | null
  readonly signature_identity: string | null
}

export interface UnreadableRow {
  readonly table_name: string
  readonly row_json: string
  readonly why: string
}
