import type { Timeline } from '../../boot/timeline/timeline.ts'
import type { AttemptId, AttemptRecord } from '../../core/boot-attempt.ts'
import type { NodeReport } from '../../core/fleet.ts'
import type { StateStore } from '../../state/store.ts'

type AttemptStore = Pick<StateStore, 'listAttempts' | 'listLastAttempts' | 'listReports'>

/** With all of their events; of others only what lists tell. */
const mostWhole = 2_000
/** Those that were going on when the last run ended. */
const mostGoingOn = 5_000
const mostHosts = 50_000
const recordsPerPage = 500
const headsPerPage = 2_000
/** A report counts for a boot that was given up, for this long. */
const lateReportMs = 24 * 60 * 60 * 1_000
const mostReports = 2_000

/**
 * What the last run knew: boots that were going on, the newest ones, and the last one of each host; and what machines
 * reported that came later than their boot was written. As much as memory holds, however much there is.
 * @returns the ids of what the store has
 * @throws ServiceError STATE_UNAVAILABLE
 */
export async function restoreAttempts(options: {
  readonly timeline: Pick<Timeline, 'restore' | 'note' | 'glance'>
  readonly store: AttemptStore
  readonly now: number
}): Promise<readonly AttemptId[]> {
  const { timeline, store, now } = options
  const records = new Map<AttemptId, AttemptRecord>()
  const keep = (found: readonly AttemptRecord[]) => {
    for (const record of found) if (!records.has(record.id)) records.set(record.id, record)
  }
  await eachPage(mostGoingOn, recordsPerPage, store, { isOver: false }, keep)
  await eachPage(mostWhole, recordsPerPage, store, {}, keep)
  await eachHost(store, keep)
  // As they happened.
  const inOrder = [...records.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  timeline.restore(inOrder, now)
  await joinReports(options, records)
  return [...records.keys()]
}

async function eachPage(
  most: number,
  perPage: number,
  store: AttemptStore,
  filter: { readonly isOver?: boolean },
  keep: (found: readonly AttemptRecord[]) => void,
): Promise<void> {
  let before: AttemptId | undefined
  for (let count = 0; count < most; count += perPage) {
    const found = await store.listAttempts({ ...filter, before, limit: perPage })
    keep(found)
    before = found.at(-1)?.id
    if (found.length < perPage) return
  }
}

async function eachHost(store: AttemptStore, keep: (found: readonly AttemptRecord[]) => void): Promise<void> {
  let afterHost: string | undefined
  for (let count = 0; count < mostHosts; count += headsPerPage) {
    const found = await store.listLastAttempts({ afterHost, limit: headsPerPage })
    keep(found)
    afterHost = found.at(-1)?.host
    if (found.length < headsPerPage) return
  }
}

/** A report is on disk before it is acknowledged, and its boot a moment later: in between the service may have ended. */
async function joinReports(
  { timeline, store, now }: Parameters<typeof restoreAttempts>[0],
  records: Map<AttemptId, AttemptRecord>,
): Promise<void> {
  const { items } = await store.listReports({ limit: mostReports })
  const late = items.filter(({ at }) => now - at < lateReportMs)
  const known = new Set([...records.values()].flatMap(reportsIn))
  for (const report of late.toReversed()) {
    if (known.has(keyOf(report))) continue
    if (timeline.glance(report.bootId) === undefined) {
      const [record] = await store.listAttempts({ bootId: report.bootId, limit: 1 })
      if (record !== undefined) {
        if (reportsIn(record).includes(keyOf(report))) continue
        records.set(record.id, record)
        timeline.restore([record], now)
      }
    }
    const { bootId, status, at, host, mac, address, osVersion, message } = report
    timeline.note({
      type: 'reported',
      at,
      bootId,
      status,
      host,
      mac,
      address,
      osVersion,
      message,
      isKnown: false,
    })
  }
}

function reportsIn({ events }: AttemptRecord): readonly string[] {
  return events.flatMap(({ event }) => (event.type === 'reported' ? [keyOf(event)] : []))
}

function keyOf({ bootId, status }: Pick<NodeReport, 'bootId' | 'status'>): string {
  return `${bootId} ${status}`
}
