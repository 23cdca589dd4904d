import type { BootGlance } from '../../boot/timeline/timeline.ts'
import type { AttemptId, AttemptRecord, BootAttempt } from '../../core/boot-attempt.ts'
import { parseAttemptId } from '../../core/boot-attempts/attempt-id.ts'
import { ServiceError } from '../../core/errors.ts'
import { parseMac } from '../../core/mac.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { BootQuery } from '../../http/admin/schemas/boots.ts'
import type { AttemptFilter, StateStore } from '../../state/store.ts'
import { beginningOf } from '../fleet/end-of.ts'
import { badCursor, usualLimit } from '../fleet/page-of.ts'
import { bootSummary } from './boot-summary.ts'

/** Boots in memory, as far as lists need them. */
export interface BootMemory {
  attempt(id: string): BootAttempt | undefined
  /** Those that the store does not have yet, or never will; nearly in the order in which they began. */
  notKept(): Iterable<BootGlance>
  /** Those that are not over; all of them, whatever the store has of them. */
  goingOn(): Iterable<BootGlance>
}

/** What boots are found by. */
type Outside = Pick<
  BootAttempt,
  'host' | 'mac' | 'otherMacs' | 'state' | 'outcome' | 'diagnosis' | 'startedAt'
>

/** How often the store is asked on where what it gave has changed meanwhile. */
const mostRounds = 5

/**
 * Boots, newest first. The store has all of them but those of the last second, and memory knows better what those that
 * go on are like by now. A page begins after an id, so that new boots do not shift it.
 */
export function createListBoots(options: {
  readonly memory: BootMemory
  readonly store: Pick<StateStore, 'listAttempts' | 'countAttempts'>
  readonly reduce: (record: AttemptRecord) => BootAttempt
  readonly now: () => number
}): BootOperations['listBoots'] {
  const { memory, store, reduce } = options

  /**
   * Newest first, and how many there are. In a flood of made-up machines there are ten thousands of them: only those
   * that are shown are looked at closely.
   */
  function remembered(
    glances: Iterable<BootGlance>,
    stands: (attempt: Outside) => boolean,
    after: AttemptId | undefined,
    limit: number,
  ): { readonly shown: readonly BootAttempt[]; readonly count: number } {
    const found: AttemptId[] = []
    let count = 0
    for (const glance of glances) {
      if (!stands(outsideOf(glance))) continue
      count += 1
      if (after === undefined || glance.id < after) found.push(glance.id)
    }
    found.sort((a, b) => (a < b ? -1 : 1))
    const shown = found.slice(-limit).map((id) => memory.attempt(id))
    return { shown: shown.filter((attempt) => attempt !== undefined), count }
  }

  /** What the store has, as it is by now. */
  async function kept(
    filter: AttemptFilter,
    stands: (attempt: Outside) => boolean,
    after: AttemptId | undefined,
    limit: number,
  ): Promise<readonly BootAttempt[]> {
    const found: BootAttempt[] = []
    let before = after
    for (let round = 0; round < mostRounds && found.length < limit; round += 1) {
      const records = await store.listAttempts({ ...filter, before, limit })
      for (const record of records) {
        const attempt = memory.attempt(record.id) ?? reduce(record)
        // One that turned out to be another one's beginning is told with that.
        if (attempt.id === record.id && stands(attempt)) found.push(attempt)
      }
      if (records.length < limit) break
      before = records.at(-1)?.id
    }
    return found
  }

  return async (query) => {
    const now = options.now()
    const { limit = usualLimit, state } = query
    const after = query.after === undefined ? undefined : cursorOf(query.after)
    const filter = filterOf(query, now)
    const stands = (attempt: Outside) =>
      fits(attempt, filter) && (state === undefined || attempt.state === state)
    // Of those that go on, the store does not tell who is stuck or waits; memory has them all.
    const isOfMemory = state !== undefined && state !== 'over'
    const glances = isOfMemory ? memory.goingOn() : memory.notKept()
    const fresh = remembered(glances, stands, after, limit + 1)
    const isFresh = new Set(fresh.shown.map(({ id }) => id))
    const [page, count] = isOfMemory
      ? [[], 0]
      : await Promise.all([kept(filter, stands, after, limit + 1), store.countAttempts(filter)])
    const all = [...fresh.shown, ...page.filter(({ id }) => !isFresh.has(id))].sort((a, b) =>
      a.id < b.id ? 1 : -1,
    )
    const items = all.slice(0, limit)
    const last = items.at(-1)
    return {
      items: items.map((attempt) => bootSummary(attempt, now)),
      total: Math.max(count + fresh.count, items.length),
      ...(all.length > limit && last !== undefined ? { next: last.id } : {}),
    }
  }
}

function filterOf({ host, mac, state, outcome, pattern, since }: BootQuery, now: number): AttemptFilter {
  const card = mac === undefined ? undefined : parseMac(mac)
  if (mac !== undefined && card === undefined) {
    throw new ServiceError('USAGE', `mac ${JSON.stringify(mac)} is not understood`, {
      field: 'mac',
      hint: 'for example 52:54:00:ab:cd:ef',
    })
  }
  return {
    host,
    mac: card,
    isOver: state === undefined ? undefined : state === 'over',
    outcome,
    pattern,
    since: since === undefined ? undefined : beginningOf(since, now),
  }
}

function fits(attempt: Outside, { host, mac, isOver, outcome, pattern, since }: AttemptFilter): boolean {
  return (
    (host === undefined || attempt.host === host) &&
    (mac === undefined || attempt.mac === mac || attempt.otherMacs?.includes(mac) === true) &&
    (isOver === undefined || (attempt.state === 'over') === isOver) &&
    (outcome === undefined || attempt.outcome === outcome) &&
    (pattern === undefined || attempt.diagnosis?.code === pattern) &&
    (since === undefined || attempt.startedAt >= since)
  )
}

/** @throws ServiceError USAGE for any other text */
function cursorOf(after: string): AttemptId {
  const id = parseAttemptId(after)
  if (id === undefined) throw badCursor()
  return id
}

function outsideOf(glance: BootGlance): Outside {
  const { host, mac, otherMacs, state = 'running', outcome, diagnosis, startedAt } = glance
  return {
    host,
    mac,
    otherMacs,
    state: diagnosis !== undefined && state === 'running' ? 'stuck' : state,
    outcome,
    diagnosis,
    startedAt,
  }
}
