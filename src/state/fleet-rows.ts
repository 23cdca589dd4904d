import { parseBootId } from '../core/boot-event.ts'
import {
  type ApiTokenRecord,
  apiRoles,
  type BootTokenRevocation,
  type InstallRecord,
  installStates,
  type RunTimeSetting,
  recordKinds,
  runTimeSettingId,
  type StoredRecord,
} from '../core/fleet.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import type {
  ApiTokenRow,
  FleetRecordRow,
  InstallRow,
  RevocationRow,
  RunTimeSettingRow,
} from './fleet-tables.ts'
import { oneOf, readArch, readList, readNumber, readObject, readProse, readText } from './stored-value.ts'

/** What admins said, to rows and back. The way back checks every value and throws a TypeError that names it. */

export function recordRow(record: StoredRecord): FleetRecordRow {
  return {
    kind: record.kind,
    name: record.name,
    spec: JSON.stringify(record.spec),
    revision: record.revision,
    created_at: record.createdAt,
    created_by: record.createdBy,
    changed_at: record.changedAt,
    changed_by: record.changedBy,
  }
}

export function storedRecord(row: FleetRecordRow): StoredRecord {
  return {
    kind: oneOf({ kind: row.kind }, 'kind', recordKinds),
    name: readText(row.name, 'name'),
    spec: readObject(row.spec, 'spec'),
    revision: readNumber(row.revision, 'revision'),
    createdAt: readNumber(row.created_at, 'created_at'),
    createdBy: readProse(row.created_by, 'created_by'),
    changedAt: readNumber(row.changed_at, 'changed_at'),
    changedBy: readProse(row.changed_by, 'changed_by'),
  }
}

export function settingRow(setting: RunTimeSetting): RunTimeSettingRow {
  const pin = setting.kind === 'pin' ? setting : undefined
  return {
    id: runTimeSettingId(setting),
    kind: setting.kind,
    target_kind: setting.target.kind,
    target_name: setting.target.name,
    set_by: setting.by,
    set_at: setting.at,
    reason: setting.reason ?? null,
    until: setting.until ?? null,
    macs: setting.macs === undefined ? null : JSON.stringify(setting.macs),
    release_version: pin?.release ?? null,
    stream: pin?.stream ?? null,
    arch: pin?.arch ?? null,
    mode: setting.kind === 'mode' ? setting.mode : null,
  }
}

export function runTimeSetting(row: RunTimeSettingRow): RunTimeSetting {
  const setting: RunTimeSetting = { ...stamp(row), ...settingValue(row) }
  if (runTimeSettingId(setting) !== row.id) throw new TypeError('id is that of another setting')
  return setting
}

function stamp(row: RunTimeSettingRow) {
  return {
    target: {
      kind: oneOf({ target_kind: row.target_kind }, 'target_kind', ['host', 'group'] as const),
      name: readText(row.target_name, 'target_name'),
    },
    by: readProse(row.set_by, 'set_by'),
    at: readNumber(row.set_at, 'set_at'),
    ...(row.reason === null ? {} : { reason: readProse(row.reason, 'reason') }),
    ...(row.until === null ? {} : { until: readNumber(row.until, 'until') }),
    ...(row.macs === null ? {} : { macs: readMacs(row.macs) }),
  }
}

function settingValue(row: RunTimeSettingRow) {
  const kind = oneOf({ kind: row.kind }, 'kind', ['pin', 'mode'] as const)
  if (kind === 'mode')
    return { kind, mode: oneOf({ mode: row.mode }, 'mode', ['hold', 'local', 'live'] as const) }
  return {
    kind,
    release: readText(row.release_version, 'release_version'),
    ...(row.stream === null ? {} : { stream: readText(row.stream, 'stream') }),
    ...(row.arch === null ? {} : { arch: readArch(row.arch) }),
  }
}

function readMacs(json: unknown): readonly MacAddress[] {
  return readList(json, 'macs').map((value) => {
    const mac = typeof value === 'string' ? parseMac(value) : undefined
    if (mac === undefined) throw new TypeError(`macs holds ${JSON.stringify(value)}`)
    return mac
  })
}

export function installRow(record: InstallRecord): InstallRow {
  return {
    host: record.host,
    source: record.source,
    state: record.state,
    generation: record.generation,
    file_generation: record.fileGeneration,
    device: record.device ?? null,
    armed_at: record.armedAt,
    armed_by: record.armedBy,
    reason: record.reason ?? null,
    serves: record.serves,
    most_serves: record.mostServes,
    until: record.until,
    failure: record.failure === undefined ? null : JSON.stringify(record.failure),
    changed_at: record.changedAt,
    changed_by: record.changedBy,
    marks: record.marks === undefined ? null : JSON.stringify(record.marks),
  }
}

export function installRecord(row: InstallRow): InstallRecord {
  return {
    host: readText(row.host, 'host'),
    source: oneOf({ source: row.source }, 'source', ['file', 'admin'] as const),
    state: oneOf({ state: row.state }, 'state', installStates),
    generation: readNumber(row.generation, 'generation'),
    fileGeneration: readNumber(row.file_generation, 'file_generation'),
    ...(row.device === null ? {} : { device: readText(row.device, 'device') }),
    armedAt: readNumber(row.armed_at, 'armed_at'),
    armedBy: readProse(row.armed_by, 'armed_by'),
    ...(row.reason === null ? {} : { reason: readProse(row.reason, 'reason') }),
    serves: readNumber(row.serves, 'serves'),
    mostServes: readNumber(row.most_serves, 'most_serves'),
    until: readNumber(row.until, 'until'),
    ...(row.failure === null ? {} : { failure: readFailure(row.failure) }),
    changedAt: readNumber(row.changed_at, 'changed_at'),
    changedBy: readProse(row.changed_by, 'changed_by'),
    ...(row.marks === null ? {} : { marks: readMarks(row.marks) }),
  }
}

function readMarks(json: unknown): readonly string[] {
  return readList(json, 'marks').map((mark) => readText(mark, 'marks'))
}

function readFailure(json: unknown): NonNullable<InstallRecord['failure']> {
  const { at, bootId, message } = readObject(json, 'failure')
  const id = typeof bootId === 'string' ? parseBootId(bootId) : undefined
  if (id === undefined) throw new TypeError(`failure names the boot ${JSON.stringify(bootId)}`)
  return {
    at: readNumber(at, 'failure.at'),
    bootId: id,
    ...(message === undefined ? {} : { message: readProse(message, 'failure.message') }),
  }
}

export function tokenRow(token: ApiTokenRecord): ApiTokenRow {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    hash: token.hash,
    created_at: token.createdAt,
    created_by: token.createdBy,
    expires_at: token.expiresAt ?? null,
    revoked_at: token.revokedAt ?? null,
  }
}

export function apiToken(row: ApiTokenRow): ApiTokenRecord {
  return {
    id: readText(row.id, 'id'),
    name: readText(row.name, 'name'),
    role: oneOf({ role: row.role }, 'role', apiRoles),
    hash: readText(row.hash, 'hash'),
    createdAt: readNumber(row.created_at, 'created_at'),
    createdBy: readProse(row.created_by, 'created_by'),
    ...(row.expires_at === null ? {} : { expiresAt: readNumber(row.expires_at, 'expires_at') }),
    ...(row.revoked_at === null ? {} : { revokedAt: readNumber(row.revoked_at, 'revoked_at') }),
  }
}

export function revocationRow({ host, before }: BootTokenRevocation): RevocationRow {
  return { host, revoked_before: before }
}

export function revocation(row: RevocationRow): BootTokenRevocation {
  return {
    host: readText(row.host, 'host'),
    before: readNumber(row.revoked_before, 'revoked_before'),
  }
}
