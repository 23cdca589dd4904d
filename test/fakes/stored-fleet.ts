import { type BootId, parseBootId } from '../../src/core/boot-event.ts'
import type {
  ApiTokenRecord,
  AuditEntry,
  InstallRecord,
  NodeReport,
  RunTimeSetting,
  SeenMachine,
  StoredRecord,
} from '../../src/core/fleet.ts'
import { type MacAddress, parseMac } from '../../src/core/mac.ts'
import type { HistoryLimits } from '../../src/state/store.ts'

/** When what is made here was said, unless told otherwise. */
export const t0 = Date.UTC(2026, 10, 29)

export function makeBootId(number: number): BootId {
  const id = parseBootId(String(number).padStart(22, 'A'))
  if (id === undefined) throw new Error('unreachable: 22 letters are a boot id')
  return id
}

export function makeMac(number: number): MacAddress {
  const mac = parseMac(`525400${number.toString(16).padStart(6, '0')}`)
  if (mac === undefined) throw new Error('unreachable: that is a MAC')
  return mac
}

export function makeStoredRecord(extra: Partial<StoredRecord> = {}): StoredRecord {
  return {
    kind: 'host',
    name: 'rack1-n01',
    spec: { macs: ['52:54:00:ab:cd:ef'], labels: { site: 'edge' }, kernelArguments: [] },
    revision: 1,
    createdAt: t0,
    createdBy: 'token ops-laptop',
    changedAt: t0,
    changedBy: 'token ops-laptop',
    ...extra,
  }
}

export function makePin(extra: Partial<Extract<RunTimeSetting, { kind: 'pin' }>> = {}): RunTimeSetting {
  return {
    kind: 'pin',
    target: { kind: 'host', name: 'rack1-n01' },
    release: '44.20260621.3.1',
    by: 'root (control socket)',
    at: t0,
    ...extra,
  }
}

export function makeInstall(extra: Partial<InstallRecord> = {}): InstallRecord {
  return {
    host: 'rack1-n01',
    source: 'admin',
    state: 'armed',
    generation: 1,
    fileGeneration: 0,
    armedAt: t0,
    armedBy: 'token ops-laptop',
    serves: 0,
    mostServes: 10,
    until: t0 + 86_400_000,
    changedAt: t0,
    changedBy: 'token ops-laptop',
    ...extra,
  }
}

export function makeToken(extra: Partial<ApiTokenRecord> = {}): ApiTokenRecord {
  return {
    id: 'AAAAbbbb0000',
    name: 'ops-laptop',
    role: 'write',
    hash: 'ab'.repeat(32),
    createdAt: t0,
    createdBy: 'root (control socket)',
    ...extra,
  }
}

export function makeReport(number: number, extra: Partial<NodeReport> = {}): NodeReport {
  return { bootId: makeBootId(number), status: 'booted', at: t0 + number, host: 'rack1-n01', ...extra }
}

export function makeAudit(extra: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: t0,
    by: 'token ops-laptop',
    via: 'api',
    action: 'pin.set',
    target: 'host/rack1-n01',
    summary: 'rack1-n01 is pinned to 44.20260621.3.1',
    ...extra,
  }
}

export function makeSeen(number: number, extra: Partial<SeenMachine> = {}): SeenMachine {
  return { mac: makeMac(number), firstSeenAt: t0, lastSeenAt: t0 + number, count: 1, ...extra }
}

export const nothingIsOver: HistoryLimits = {
  auditBefore: 0,
  mostAudit: 1000,
  reportsBefore: 0,
  seenBefore: 0,
  mostSeen: 1000,
  most: 1000,
}
