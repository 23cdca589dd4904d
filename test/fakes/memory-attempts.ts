import type { AttemptId, AttemptRecord } from '../../src/core/boot-attempt.ts'
import { headOf, joinedEvents } from '../../src/state/attempt-rows.ts'
import type { AttemptFilter, StateStore } from '../../src/state/store.ts'

type AttemptStore = Pick<
  StateStore,
  'saveAttempts' | 'listAttempts' | 'countAttempts' | 'listLastAttempts' | 'trimAttempts'
>

/** Boots and what happened in them, forgotten with the process. */
export function createMemoryAttempts(step: <T>(name: string, run: () => T) => Promise<T>): AttemptStore {
  const attempts = new Map<AttemptId, AttemptRecord>()

  /** Newest first. */
  function matching(filter: AttemptFilter): readonly AttemptRecord[] {
    return [...attempts.values()]
      .filter((record) => fits(record, filter))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  return {
    saveAttempts: (records) =>
      step('saving boots', () => {
        for (const { isHead, ...record } of records) {
          const before = isHead ? attempts.get(record.id)?.events : undefined
          const events = before === undefined ? record.events : joinedEvents(before, record.events)
          // As JSON, which is what others keep.
          attempts.set(record.id, JSON.parse(JSON.stringify({ ...record, events })))
        }
      }),
    listAttempts: ({ before, limit, ...filter }) =>
      step('listing boots', () =>
        matching(filter)
          .filter(({ id }) => before === undefined || id < before)
          .slice(0, limit),
      ),
    countAttempts: (filter) => step('counting boots', () => matching(filter).length),
    listLastAttempts: ({ afterHost = '', limit }) =>
      step('listing the last boot of each host', () => {
        const last = new Map<string, AttemptRecord>()
        for (const record of matching({})) {
          const { host = '' } = record
          if (host > afterHost && !last.has(host)) last.set(host, record)
        }
        return [...last]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, limit)
          .map(([, record]) => ({ ...record, events: headOf(record.events), isHead: true }))
      }),
    trimAttempts: ({ startedBefore, keep, keepStrangers, most }) =>
      step('removing old boots', () => {
        const oldest = matching({}).toReversed()
        const old = oldest.filter(({ startedAt }) => startedAt < startedBefore).slice(0, most)
        for (const { id } of old) attempts.delete(id)
        let removed = old.length
        for (const [isHost, kept] of [
          [false, keepStrangers],
          [true, keep],
        ] as const) {
          const own = oldest.filter(({ id, host }) => attempts.has(id) && (host !== undefined) === isHost)
          const excess = own.slice(0, Math.min(Math.max(0, own.length - kept), most))
          for (const { id } of excess) attempts.delete(id)
          removed += excess.length
        }
        return { removed }
      }),
  }
}

function fits(record: AttemptRecord, filter: AttemptFilter): boolean {
  const { id, bootId, host, mac, isOver, outcome, pattern, since } = filter
  return (
    (id === undefined || record.id === id) &&
    (bootId === undefined ||
      record.bootId === bootId ||
      record.events.some(({ event }) => event.type === 'decided' && event.bootId === bootId)) &&
    (host === undefined || record.host === host) &&
    (mac === undefined || record.mac === mac || record.otherMacs?.includes(mac) === true) &&
    (isOver === undefined || (record.outcome !== undefined) === isOver) &&
    (outcome === undefined || record.outcome === outcome) &&
    (pattern === undefined || record.diagnosis?.code === pattern) &&
    (since === undefined || record.startedAt >= since)
  )
}
