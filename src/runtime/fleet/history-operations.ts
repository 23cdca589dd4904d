import { parseBootId } from '../../core/boot-event.ts'
import { ServiceError } from '../../core/errors.ts'
import { type NodeReport, reportStates, type SeenMachine } from '../../core/fleet.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type {
  AuditQuery,
  AuditSummary,
  ReportQuery,
  ReportSummary,
  SeenSummary,
} from '../../http/admin/schemas/fleet.ts'
import type { KeptAuditEntry, ReportPlace } from '../../state/store.ts'
import { beginningOf } from './end-of.ts'
import type { FleetContext } from './fleet-context.ts'
import { badCursor, compareText, numberCursor, pageOf, usualLimit } from './page-of.ts'
import { iso } from './times.ts'

/** What happened: reports of nodes, machines that nobody knows, changes by admins. */
export function createHistoryOperations(
  context: Pick<FleetContext, 'store' | 'clock'>,
  seen: { list(): Promise<readonly SeenMachine[]> | readonly SeenMachine[] },
): Pick<FleetOperations, 'listReports' | 'listSeen' | 'listAudit'> {
  const { store, clock } = context
  return {
    async listReports(query) {
      const { limit = usualLimit, after } = query
      const place = after === undefined ? undefined : placeOf(after)
      const { items, total } = await store.listReports({ ...reportFilter(query), after: place, limit })
      const last = items.at(-1)
      return {
        items: items.map(reportSummary),
        total,
        ...(items.length < limit || last === undefined
          ? {}
          : { next: `${last.at}-${last.status}-${last.bootId}` }),
      }
    },

    async listSeen(query) {
      const machines = [...(await seen.list())].sort(
        (a, b) => b.lastSeenAt - a.lastSeenAt || compareText(a.mac, b.mac),
      )
      return pageOf(machines, query, seenKey, seenSummary)
    },

    async listAudit(query) {
      const { limit = usualLimit, after } = query
      const beforeId = after === undefined ? undefined : numberCursor(after)
      const { items, total } = await store.listAudit({ ...auditFilter(query, clock.now()), beforeId, limit })
      const last = items.at(-1)
      return {
        items: items.map(auditSummary),
        total,
        ...(items.length < limit || last === undefined ? {} : { next: String(last.id) }),
      }
    },
  }
}

/** Where two were seen at one moment, the MAC decides. */
function seenKey({ lastSeenAt, mac }: SeenMachine): string {
  return `${String(Number.MAX_SAFE_INTEGER - lastSeenAt).padStart(16, '0')}-${mac}`
}

function reportFilter({
  host,
  boot,
}: ReportQuery): Pick<Parameters<FleetContext['store']['listReports']>[0], 'host' | 'bootId'> {
  if (boot === undefined) return { host }
  const bootId = parseBootId(boot)
  if (bootId !== undefined) return { host, bootId }
  throw new ServiceError('USAGE', `${JSON.stringify(boot)} is no boot id`, {
    field: 'boot',
    hint: 'a boot id has 22 characters; boots and reports list them',
  })
}

/** The cursor of a page of reports. @throws ServiceError USAGE for any other text */
function placeOf(after: string): ReportPlace {
  const [at = '', status, ...rest] = after.split('-')
  const bootId = parseBootId(rest.join('-'))
  const known = reportStates.find((state) => state === status)
  if (bootId === undefined || known === undefined) throw badCursor()
  return { at: numberCursor(at), status: known, bootId }
}

export function reportSummary(report: NodeReport): ReportSummary {
  return { ...report, at: iso(report.at) }
}

function seenSummary(machine: SeenMachine): SeenSummary {
  return { ...machine, firstSeenAt: iso(machine.firstSeenAt), lastSeenAt: iso(machine.lastSeenAt) }
}

function auditFilter({ target, by, action, since }: AuditQuery, now: number) {
  return { target, by, action, since: since === undefined ? undefined : beginningOf(since, now) }
}

function auditSummary(entry: KeptAuditEntry): AuditSummary {
  return { ...entry, at: iso(entry.at) }
}
