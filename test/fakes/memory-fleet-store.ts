import { readFileSync, writeFileSync } from 'node:fs'
import { ServiceError } from '../../src/core/errors.ts'
import {
  type ApiTokenRecord,
  type AuditEntry,
  type FleetChange,
  type InstallRecord,
  type NodeReport,
  type RunTimeSetting,
  runTimeSettingId,
  type SeenMachine,
  type StoredRecord,
} from '../../src/core/fleet.ts'
import type {
  BootimageRecord,
  FleetStore,
  KeptAuditEntry,
  PinResolution,
  RestoredCounts,
} from '../../src/state/store.ts'

/** Pins that were resolved, and their bootimages: they are in a backup as well. */
export interface PinnedSets {
  readonly pins: Map<string, PinResolution>
  readonly bootimages: Map<string, BootimageRecord>
}

/** What admins and nodes said, forgotten with the process. */
export function createMemoryFleetStore(
  step: <T>(name: string, run: () => T) => Promise<T>,
  pinned: PinnedSets,
): FleetStore {
  const records = new Map<string, StoredRecord>()
  const settings = new Map<string, RunTimeSetting>()
  const installs = new Map<string, InstallRecord>()
  const tokens = new Map<string, ApiTokenRecord>()
  const revocations = new Map<string, number>()
  const reports = new Map<string, NodeReport>()
  const seen = new Map<string, SeenMachine>()
  const secrets = new Map<string, Uint8Array>()
  let audit: readonly KeptAuditEntry[] = []
  let lastAuditId = 0

  function put(change: Extract<FleetChange, { put: unknown }>): void {
    switch (change.put) {
      case 'record':
        records.set(`${change.record.kind} ${change.record.name}`, present(change.record))
        break
      case 'setting':
        settings.set(runTimeSettingId(change.setting), present(change.setting))
        break
      case 'install':
        installs.set(change.install.host, present(change.install))
        break
      case 'token':
        tokens.set(change.token.id, present(change.token))
        break
      case 'revocation': {
        const { host, before } = change.revocation
        revocations.set(host, Math.max(before, revocations.get(host) ?? before))
        break
      }
      case 'report': {
        const key = `${change.report.bootId} ${change.report.status}`
        if (!reports.has(key)) reports.set(key, present(change.report))
      }
    }
  }

  function remove(change: Extract<FleetChange, { remove: unknown }>): void {
    switch (change.remove) {
      case 'record':
        records.delete(`${change.kind} ${change.name}`)
        break
      case 'setting':
        settings.delete(change.id)
        break
      case 'install':
        installs.delete(change.host)
        break
      case 'token':
        tokens.delete(change.id)
    }
  }

  function keepAudit(entry: AuditEntry): void {
    lastAuditId++
    audit = [...audit, present({ ...entry, id: lastAuditId })]
  }

  /** Everything that a backup holds, as its JSON. */
  function contents() {
    const { pins, bootimages } = pinned
    return {
      records: [...records.values()],
      settings: [...settings.values()],
      installs: [...installs.values()],
      tokens: [...tokens.values()],
      revocations: [...revocations],
      reports: [...reports],
      secrets: [...secrets].map(([name, secret]) => [name, [...secret]] as const),
      audit: audit.map(({ id: _, ...entry }) => entry),
      pins: [...pins],
      bootimages: [...pins.values()].flatMap(({ bootimage }) => bootimages.get(bootimage) ?? []),
    }
  }

  function takeOver(backup: ReturnType<typeof contents>): RestoredCounts {
    records.clear()
    settings.clear()
    for (const record of backup.records) put({ put: 'record', record })
    for (const setting of backup.settings) put({ put: 'setting', setting })
    for (const install of backup.installs)
      if (install.changedAt > (installs.get(install.host)?.changedAt ?? -1)) put({ put: 'install', install })
    for (const { id, revokedAt } of [...tokens.values()]) if (revokedAt === undefined) tokens.delete(id)
    for (const token of backup.tokens) if (!tokens.has(token.id)) put({ put: 'token', token })
    for (const [host, before] of backup.revocations) put({ put: 'revocation', revocation: { host, before } })
    for (const [, report] of backup.reports) put({ put: 'report', report })
    for (const [name, secret] of backup.secrets) secrets.set(name, new Uint8Array(secret))
    const textOf = ({ id: _, ...entry }: AuditEntry) => JSON.stringify(entry)
    const known = new Set(audit.map(textOf))
    if (backup.audit.some((entry) => !known.has(textOf(entry)))) {
      const both = new Map([...audit, ...backup.audit].map((entry) => [textOf(entry), entry]))
      audit = []
      for (const entry of [...both.values()].sort((a, b) => a.at - b.at)) keepAudit(entry)
    }
    for (const [key, pin] of backup.pins) if (!pinned.pins.has(key)) pinned.pins.set(key, pin)
    for (const record of backup.bootimages)
      if (!pinned.bootimages.has(record.bootimage.id)) pinned.bootimages.set(record.bootimage.id, record)
    return {
      records: backup.records.length,
      settings: backup.settings.length,
      installs: backup.installs.length,
      tokens: backup.tokens.length,
      pinnedReleases: backup.pins.length,
    }
  }

  return {
    backup: async (file) => {
      const text = await step('backing up the state', () => JSON.stringify(contents()))
      try {
        writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        throw new ServiceError(code === 'EEXIST' ? 'CONFLICT' : 'STORAGE_FAILED', `backup ${file}: ${code}`)
      }
      return { sizeBytes: text.length, schemaVersion: 1 }
    },
    async restore(file, check) {
      const backup = await step('restoring the state', () => {
        try {
          return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof contents>
        } catch (error) {
          const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
          throw new ServiceError(isMissing ? 'NOT_FOUND' : 'BACKUP_INVALID', `restore ${file}`)
        }
      })
      await check?.(backup.records)
      return step('restoring the state', () => takeOver(backup))
    },
    loadFleet: () =>
      step('loading what admins said', () => ({
        records: sortedBy([...records.values()], ({ kind, name }) => `${kind} ${name}`),
        settings: sortedBy([...settings.values()], runTimeSettingId),
        installs: sortedBy([...installs.values()], ({ host }) => host),
        tokens: [...tokens.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
        revocations: sortedBy(
          [...revocations].map(([host, before]) => ({ host, before })),
          ({ host }) => host,
        ),
      })),
    writeFleet: ({ changes, audit: entries }) =>
      step('writing a change', () => {
        for (const change of changes) 'put' in change ? put(change) : remove(change)
        for (const entry of entries) keepAudit(entry)
      }),
    listAudit: ({ target, by, action, since, beforeId, limit }) =>
      step('listing the audit', () => {
        const found = audit.filter(
          (entry) =>
            (target === undefined || entry.target === target) &&
            (by === undefined || entry.by === by) &&
            (action === undefined || entry.action === action) &&
            (since === undefined || entry.at >= since),
        )
        const page = found.toReversed().filter(({ id }) => beforeId === undefined || id < beforeId)
        return { items: page.slice(0, limit), total: found.length }
      }),
    listReports: ({ host, bootId, after, limit }) =>
      step('listing reports', () => {
        const found = sortedBy([...reports.values()], (report) => `${report.bootId} ${report.status}`)
          .filter(
            (report) =>
              (host === undefined || report.host === host) &&
              (bootId === undefined || report.bootId === bootId),
          )
          .sort((a, b) => b.at - a.at)
        const place = found.findIndex(({ at, bootId: id, status }) => {
          const key = `${id} ${status}`
          return (
            after === undefined ||
            at < after.at ||
            (at === after.at && key > `${after.bootId} ${after.status}`)
          )
        })
        const page = place < 0 ? [] : found.slice(place)
        return { items: page.slice(0, limit), total: found.length }
      }),
    saveSeenMachines: (machines) =>
      step('saving seen machines', () => {
        for (const machine of machines) {
          const { firstSeenAt } = seen.get(machine.mac) ?? machine
          seen.set(machine.mac, present({ ...machine, firstSeenAt }))
        }
      }),
    removeSeenMachines: (macs) =>
      step('removing seen machines', () => {
        for (const mac of macs) seen.delete(mac)
      }),
    listSeenMachines: ({ limit }) =>
      step('listing seen machines', () =>
        sortedBy([...seen.values()], ({ mac }) => mac)
          .sort((a, b) => b.lastSeenAt - a.lastSeenAt)
          .slice(0, limit),
      ),
    secretKey: (name, make) =>
      step('reading a secret', () => {
        const secret = secrets.get(name) ?? make()
        secrets.set(name, secret)
        return secret
      }),
    trimHistory: ({ auditBefore, mostAudit, reportsBefore, seenBefore, mostSeen, most }) =>
      step('removing what is over', () => {
        const before = audit.length + reports.size + seen.size
        const oldAudit = new Set(
          [...audit.filter(({ at }) => at < auditBefore)].sort((a, b) => a.at - b.at).slice(0, most),
        )
        audit = audit.filter((entry) => !oldAudit.has(entry))
        audit = audit.slice(Math.min(Math.max(audit.length - mostAudit, 0), most))
        const oldReports = [...reports].filter(([, { at }]) => at < reportsBefore)
        for (const [key] of oldReports.sort(([, a], [, b]) => a.at - b.at).slice(0, most)) reports.delete(key)
        const oldestSeen = () => [...seen.values()].sort((a, b) => a.lastSeenAt - b.lastSeenAt)
        const over = oldestSeen().filter(({ lastSeenAt }) => lastSeenAt < seenBefore)
        for (const { mac } of over.slice(0, most)) seen.delete(mac)
        for (const { mac } of oldestSeen().slice(0, Math.min(Math.max(seen.size - mostSeen, 0), most)))
          seen.delete(mac)
        return { removed: before - audit.length - reports.size - seen.size }
      }),
  }
}

/** Without the fields that are `undefined`, as a database would give it back. */
function present<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}

function sortedBy<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  return values.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
