import type { Arch } from '../core/arch.ts'
import type { AttemptId, AttemptOutcome, AttemptRecord } from '../core/boot-attempt.ts'
import type { BootId } from '../core/boot-event.ts'
import type { BootimageLease, BootLease } from '../core/boot-lease.ts'
import type { BootPatternCode } from '../core/boot-pattern.ts'
import type { Bootimage, BootimageId } from '../core/bootimage.ts'
import type { BootimageFailure, BootimageState, PendingChange } from '../core/bootimage-state.ts'
import type { ChangeClass } from '../core/change.ts'
import type { Sha256 } from '../core/digest.ts'
import type { FileIdentity } from '../core/file-identity.ts'
import type {
  AuditEntry,
  FleetState,
  FleetWrite,
  NodeReport,
  SeenMachine,
  StoredRecord,
} from '../core/fleet.ts'
import type { MacAddress } from '../core/mac.ts'
import type { MetadataFormat } from '../streams/metadata.ts'

/** A metadata document that parsed; its bytes are in `<data>/metadata/<digest>.json`. */
export interface DocumentRecord {
  readonly digest: Sha256
  readonly stream: string
  readonly format: MetadataFormat
  /** URL or file path it came from. */
  readonly source: string
  readonly label?: string
  readonly sizeBytes: number
  /** Ms since the epoch. */
  readonly firstSeenAt: number
  readonly lastSeenAt: number
}

export interface BootimageRecord {
  readonly bootimage: Bootimage
  readonly document: Sha256
  readonly state: BootimageState
  readonly failure?: BootimageFailure
  readonly firstSeenAt: number
  readonly readyAt?: number
  /** Digest of the decompressed kernel, where the set's kernel is gzip (aarch64). */
  readonly kernelUncompressed?: Sha256
}

/** Where a stream stands for one architecture. */
export interface StreamHead {
  readonly stream: string
  readonly arch: Arch
  /** What is handed out. */
  readonly current?: BootimageId
  /** Newest first. */
  readonly previous: readonly BootimageId[]
  /** What the document says and policy accepted; becomes current when it is ready. */
  readonly target?: BootimageId
  readonly lastChange?: ChangeClass
  readonly pending?: PendingChange
  readonly changedAt?: number
}

/** A derived file's provenance (G1): what it was made from and how. */
export interface DerivedRecord {
  readonly sha256: Sha256
  readonly from: Sha256
  readonly how: 'gunzip'
  readonly at: number
}

/** A pin that was resolved: from then on exactly this bootimage (its digests are fixed). */
export interface PinResolution {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
  readonly bootimage: BootimageId
  readonly resolvedAt: number
}

/**
 * What a file of the blob store was like when its content was found to have its digest (G1). Any other file of that
 * name has to be read before it counts.
 */
export interface VerifiedFile {
  readonly sha256: Sha256
  readonly identity: FileIdentity
  readonly verifiedAt: number
  /** The detached signature beside it, found good; `sha256` of its own bytes. */
  readonly signature?: { readonly sha256: Sha256; readonly identity: FileIdentity }
}

/** How many attempts left the store: those that are over, and those that left a lease behind. */
export interface TrimmedAttempts {
  readonly over: number
  readonly folded: number
}

/** What boots are searched by; all that is given must fit. */
export interface AttemptFilter {
  readonly id?: AttemptId
  /** Of any of its decisions. */
  readonly bootId?: BootId
  readonly host?: string
  readonly mac?: MacAddress
  readonly isOver?: boolean
  readonly outcome?: AttemptOutcome
  readonly pattern?: BootPatternCode
  /** Began then or later, ms since the epoch. */
  readonly since?: number
}

/** What one accepted refresh of a stream writes, all or nothing. */
export interface RefreshWrite {
  readonly document: DocumentRecord
  readonly bootimages: readonly BootimageRecord[]
  readonly heads: readonly StreamHead[]
  /** Known sets, the same by digest, that this document names at other places; their records keep their state. */
  readonly relocated?: readonly Bootimage[]
}

/** An entry with the id that the store gave it. */
export type KeptAuditEntry = AuditEntry & { readonly id: number }

/** What was kept longer than anybody asked for. At most `most` of each in one go. */
export interface HistoryLimits {
  readonly auditBefore: number
  readonly mostAudit: number
  readonly reportsBefore: number
  readonly seenBefore: number
  readonly mostSeen: number
  readonly most: number
}

export interface RestoredCounts {
  readonly records: number
  readonly settings: number
  readonly installs: number
  readonly tokens: number
  readonly pinnedReleases: number
}

/** Where a report stands in the list of all: by its time, newest first, then by boot and state. */
export type ReportPlace = Pick<NodeReport, 'at' | 'bootId' | 'status'>

/** What admins and nodes said, durable. Part of `StateStore`; the same promises. */
export interface FleetStore {
  loadFleet(): Promise<FleetState>
  /**
   * Everything in it or nothing, in this order; a report of a boot and state that is known stays as it was, and of two
   * revocations of a host the later counts.
   */
  writeFleet(write: FleetWrite): Promise<void>
  /** Newest first; `beforeId` and `limit` page, `total` counts what matches on all pages. */
  listAudit(filter: {
    target?: string
    by?: string
    action?: string
    since?: number
    beforeId?: number
    limit: number
  }): Promise<{ readonly items: readonly KeptAuditEntry[]; readonly total: number }>
  /** Newest first; `after` (the last one of the page before) and `limit` page, `total` counts what matches on all pages. */
  listReports(filter: {
    host?: string
    bootId?: BootId
    after?: ReportPlace
    limit: number
  }): Promise<{ readonly items: readonly NodeReport[]; readonly total: number }>
  /** Upserts; `firstSeenAt` stays. Off the hot path, many at once. */
  saveSeenMachines(machines: readonly SeenMachine[]): Promise<void>
  removeSeenMachines(macs: readonly MacAddress[]): Promise<void>
  /** Last seen first. */
  listSeenMachines(filter: { limit: number }): Promise<readonly SeenMachine[]>
  /** The secret of this name; made and kept when there is none yet. */
  secretKey(name: string, make: () => Uint8Array): Promise<Uint8Array>
  trimHistory(limits: HistoryLimits): Promise<{ readonly removed: number }>
  /**
   * Writes a consistent copy of the whole database to a file that is not there yet, readable by this user alone, while
   * everything goes on.
   * @throws ServiceError CONFLICT when something is there, STORAGE_FAILED
   */
  backup(file: string): Promise<{ readonly sizeBytes: number; readonly schemaVersion: number }>
  /**
   * Takes what admins and nodes said out of a backup, in place of what is here; resolved pins and their bootimages are
   * added. What the disk holds (documents, heads, verified files) stays as it is. All or nothing.
   * What was revoked stays revoked; of two installs of a host the one that changed last counts, so that no disk is
   * written twice; audit entries and reports of both are kept. Boots and their events stay those of here: what happened
   * does not come back. Backups of older versions are understood.
   * @param check of its records, for whoever knows what may stand in them; nothing is changed when it throws
   * @throws ServiceError NOT_FOUND, BACKUP_INVALID, STATE_NEWER_VERSION, STORAGE_FAILED; nothing was changed then
   */
  restore(file: string, check?: (records: readonly StoredRecord[]) => Promise<void>): Promise<RestoredCounts>
}

/**
 * The durable state, asynchronous because it may one day be remote. Every promise that resolved is on disk.
 * Hot paths never call it: they read snapshots.
 * @throws ServiceError STATE_UNAVAILABLE when the store cannot be written or read
 */
export interface StateStore extends FleetStore {
  /** Bootimages that are known keep their state; heads are replaced. */
  recordRefresh(write: RefreshWrite): Promise<void>
  /** Of a document that this stream is known to have had, only `lastSeenAt` is raised. */
  recordDocument(document: DocumentRecord): Promise<void>
  /** Last seen first. */
  listDocuments(filter?: { stream?: string; limit?: number }): Promise<readonly DocumentRecord[]>

  /** Inserts, or leaves an existing record alone and returns it. */
  addBootimage(record: BootimageRecord): Promise<BootimageRecord>
  /**
   * Replaces state and failure (none given: none left); `readyAt` and `kernelUncompressed` stay unless given.
   * Does nothing when the bootimage is not there: it may have been removed meanwhile.
   */
  setBootimageState(
    id: BootimageId,
    change: {
      state: BootimageState
      failure?: BootimageFailure
      readyAt?: number
      kernelUncompressed?: Sha256
    },
  ): Promise<void>
  /** First seen first. */
  listBootimages(filter?: {
    stream?: string
    arch?: Arch
    release?: string
  }): Promise<readonly BootimageRecord[]>
  /** Leaves heads and pins that name it; whoever reads those copes with an absent bootimage. */
  removeBootimage(id: BootimageId): Promise<void>

  listHeads(): Promise<readonly StreamHead[]>
  saveHead(head: StreamHead): Promise<void>

  addDerived(record: DerivedRecord): Promise<void>
  listDerived(): Promise<readonly DerivedRecord[]>

  savePinResolution(pin: PinResolution): Promise<void>
  listPinResolutions(): Promise<readonly PinResolution[]>

  /** Upserts many at once, off the hot path. `startedAt` stays and `lastSeenAt` never goes back (G6). */
  saveBootLeases(attempts: readonly BootLease[]): Promise<void>
  /** The newest `limit` of them, first started first; what cannot be read is left out. */
  listBootLeases(filter: { lastSeenAfter: number; limit: number }): Promise<readonly BootLease[]>
  /** Leases of attempts that are not kept one by one; `lastSeenAt` never goes back. */
  saveBootimageLeases(leases: readonly BootimageLease[]): Promise<void>
  /** Every bootimage that an attempt needs, also those of attempts that were folded into it. */
  listBootimageLeases(filter: { lastSeenAfter: number }): Promise<readonly BootimageLease[]>
  /**
   * Removes attempts last seen before a time, and the oldest where more than `keep` are left: their bootimages stay
   * leased. At most `most` of each in one go, so that nobody waits long; call it again while it removes that many.
   */
  trimBootLeases(limits: { lastSeenBefore: number; keep: number; most: number }): Promise<TrimmedAttempts>

  /**
   * Upserts many at once, off the hot path: a record stands for what was kept of its attempt, and one that is a head
   * alone (`isHead`) adds its events to those.
   */
  saveAttempts(records: readonly AttemptRecord[]): Promise<void>
  /** Newest first, as their ids sort; `before` (the last one of the page before) and `limit` page. */
  listAttempts(
    filter: AttemptFilter & { readonly before?: AttemptId; readonly limit: number },
  ): Promise<readonly AttemptRecord[]>
  countAttempts(filter: AttemptFilter): Promise<number>
  /** The heads of the newest attempts of each host, by host id; `afterHost` and `limit` page. */
  listLastAttempts(filter: {
    readonly afterHost?: string
    readonly limit: number
  }): Promise<readonly AttemptRecord[]>
  /**
   * Removes what began before a time, the oldest boots of hosts beyond `keep`, and those of machines that no record
   * matches beyond `keepStrangers`, which so cannot push out the others; at most `most` of each in one go.
   */
  trimAttempts(limits: {
    readonly startedBefore: number
    readonly keep: number
    readonly keepStrangers: number
    readonly most: number
  }): Promise<{ readonly removed: number }>

  /** One for each digest: the last one counts. */
  saveVerified(record: VerifiedFile): Promise<void>
  removeVerified(digests: readonly Sha256[]): Promise<void>
  listVerified(): Promise<readonly VerifiedFile[]>

  /** May be called twice; everything else fails afterwards. */
  close(): Promise<void>
}
