import { parseBootId } from '../core/boot-event.ts'
import type { BootLease } from '../core/boot-lease.ts'
import type { BootimageId } from '../core/bootimage.ts'
import { bootimageStates } from '../core/bootimage-state.ts'
import { parseMac } from '../core/mac.ts'
import { metadataFormats } from '../streams/metadata.ts'
import type { BootimageRecord, DerivedRecord, DocumentRecord, PinResolution, StreamHead } from './store.ts'
import {
  oneOf,
  readArch,
  readBootimage,
  readBootimageIds,
  readChangeClass,
  readFailure,
  readNumber,
  readPending,
  readSha256,
  readText,
} from './stored-value.ts'
import type {
  BootimageRow,
  BootLeaseRow,
  DerivedRow,
  DocumentRow,
  PinResolutionRow,
  StreamHeadRow,
} from './tables.ts'

/** Records to rows and back. The way back checks every value and throws a TypeError that names it. */

export function documentRow(record: DocumentRecord): DocumentRow {
  return {
    digest: record.digest,
    stream: record.stream,
    format: record.format,
    source: record.source,
    label: record.label ?? null,
    size_bytes: record.sizeBytes,
    first_seen_at: record.firstSeenAt,
    last_seen_at: record.lastSeenAt,
  }
}

export function documentRecord(row: DocumentRow): DocumentRecord {
  return {
    digest: readSha256(row.digest, 'digest'),
    stream: readText(row.stream, 'stream'),
    format: oneOf({ format: row.format }, 'format', metadataFormats),
    source: readText(row.source, 'source'),
    ...(row.label === null ? {} : { label: readText(row.label, 'label') }),
    sizeBytes: readNumber(row.size_bytes, 'size_bytes'),
    firstSeenAt: readNumber(row.first_seen_at, 'first_seen_at'),
    lastSeenAt: readNumber(row.last_seen_at, 'last_seen_at'),
  }
}

export function bootimageRow(record: BootimageRecord): BootimageRow {
  const { bootimage } = record
  return {
    id: bootimage.id,
    stream: bootimage.stream,
    arch: bootimage.arch,
    release_version: bootimage.release,
    bootimage: JSON.stringify(bootimage),
    document: record.document,
    state: record.state,
    failure: record.failure === undefined ? null : JSON.stringify(record.failure),
    first_seen_at: record.firstSeenAt,
    ready_at: record.readyAt ?? null,
    kernel_uncompressed: record.kernelUncompressed ?? null,
  }
}

export function bootimageRecord(row: BootimageRow): BootimageRecord {
  return {
    bootimage: readBootimage(row.bootimage),
    document: readSha256(row.document, 'document'),
    state: oneOf({ state: row.state }, 'state', bootimageStates),
    ...(row.failure === null ? {} : { failure: readFailure(row.failure) }),
    firstSeenAt: readNumber(row.first_seen_at, 'first_seen_at'),
    ...(row.ready_at === null ? {} : { readyAt: readNumber(row.ready_at, 'ready_at') }),
    ...(row.kernel_uncompressed === null
      ? {}
      : { kernelUncompressed: readSha256(row.kernel_uncompressed, 'kernelUncompressed') }),
  }
}

export function streamHeadRow(head: StreamHead): StreamHeadRow {
  return {
    stream: head.stream,
    arch: head.arch,
    current_bootimage: head.current ?? null,
    previous_bootimages: JSON.stringify(head.previous),
    target_bootimage: head.target ?? null,
    last_change: head.lastChange ?? null,
    pending: head.pending === undefined ? null : JSON.stringify(head.pending),
    changed_at: head.changedAt ?? null,
  }
}

export function streamHead(row: StreamHeadRow): StreamHead {
  return {
    stream: readText(row.stream, 'stream'),
    arch: readArch(row.arch),
    ...(row.current_bootimage === null
      ? {}
      : { current: readText(row.current_bootimage, 'current_bootimage') as BootimageId }),
    previous: readBootimageIds(row.previous_bootimages),
    ...(row.target_bootimage === null
      ? {}
      : { target: readText(row.target_bootimage, 'target_bootimage') as BootimageId }),
    ...(row.last_change === null ? {} : { lastChange: readChangeClass(row.last_change) }),
    ...(row.pending === null ? {} : { pending: readPending(row.pending) }),
    ...(row.changed_at === null ? {} : { changedAt: readNumber(row.changed_at, 'changed_at') }),
  }
}

export function derivedRow(record: DerivedRecord): DerivedRow {
  return { sha256: record.sha256, made_from: record.from, how: record.how, made_at: record.at }
}

export function derivedRecord(row: DerivedRow): DerivedRecord {
  return {
    sha256: readSha256(row.sha256, 'sha256'),
    from: readSha256(row.made_from, 'from'),
    how: oneOf({ how: row.how }, 'how', ['gunzip'] as const),
    at: readNumber(row.made_at, 'made_at'),
  }
}

export function pinResolutionRow(pin: PinResolution): PinResolutionRow {
  return {
    stream: pin.stream,
    arch: pin.arch,
    release_version: pin.release,
    bootimage: pin.bootimage,
    resolved_at: pin.resolvedAt,
  }
}

export function pinResolution(row: PinResolutionRow): PinResolution {
  return {
    stream: readText(row.stream, 'stream'),
    arch: readArch(row.arch),
    release: readText(row.release_version, 'release_version'),
    bootimage: readText(row.bootimage, 'bootimage') as BootimageId,
    resolvedAt: readNumber(row.resolved_at, 'resolved_at'),
  }
}

export function bootLeaseRow(attempt: BootLease): BootLeaseRow {
  return {
    boot_id: attempt.bootId,
    host: attempt.host ?? null,
    mac: attempt.mac ?? null,
    address: attempt.address ?? null,
    bootimage: attempt.bootimage,
    started_at: attempt.startedAt,
    last_seen_at: attempt.lastSeenAt,
  }
}

export function bootLease(row: BootLeaseRow): BootLease {
  const bootId = parseBootId(readText(row.boot_id, 'boot_id'))
  if (bootId === undefined) throw new TypeError(`boot id is ${JSON.stringify(row.boot_id)}`)
  // Who booted is for people; a lease lasts without it.
  const mac = typeof row.mac === 'string' ? parseMac(row.mac) : undefined
  return {
    bootId,
    ...(typeof row.host === 'string' ? { host: row.host } : {}),
    ...(mac === undefined ? {} : { mac }),
    ...(typeof row.address === 'string' ? { address: row.address } : {}),
    bootimage: readText(row.bootimage, 'bootimage') as BootimageId,
    startedAt: readNumber(row.started_at, 'started_at'),
    lastSeenAt: readNumber(row.last_seen_at, 'last_seen_at'),
  }
}
