import { describe, expect, it } from 'vitest'
import { trimHistory } from '../../src/runtime/trim-history.ts'
import type { HistoryLimits } from '../../src/state/store.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { makeAudit, makeReport, makeSeen } from '../fakes/stored-fleet.ts'

const dayMs = 24 * 60 * 60 * 1000
const now = Date.UTC(2027, 0, 1)
const retention = { auditMs: 400 * dayMs, reportsMs: 90 * dayMs, bootsMs: 30 * dayMs, seenMs: 30 * dayMs }

describe('history', () => {
  it('leaves when it is older than it is to be kept, each kind by its own time', async () => {
    const store = createMemoryStore()
    const ages = [1, 29, 31, 89, 91, 399, 401]
    await store.writeFleet({
      changes: ages.map((age) => ({ put: 'report', report: makeReport(age, { at: now - age * dayMs }) })),
      audit: ages.map((age) => makeAudit({ at: now - age * dayMs })),
    })
    await store.saveSeenMachines(ages.map((age) => makeSeen(age, { lastSeenAt: now - age * dayMs })))
    const { signal } = new AbortController()
    expect(await trimHistory({ store, retention, now, signal })).toBe(1 + 3 + 5)
    expect(await store.listAudit({ limit: 9 })).toMatchObject({ total: 6 })
    expect(await store.listReports({ limit: 9 })).toMatchObject({ total: 4 })
    expect(await store.listSeenMachines({ limit: 9 })).toHaveLength(2)
  })

  it('leaves step by step until nothing is over, and no longer when the service stops', async () => {
    const asked: HistoryLimits[] = []
    const controller = new AbortController()
    const store = {
      async trimHistory(limits: HistoryLimits) {
        asked.push(limits)
        if (asked.length === 5) controller.abort()
        return { removed: asked.length === 3 ? 0 : 10 }
      },
    }
    const { signal } = controller
    expect(await trimHistory({ store, retention, now, signal })).toBe(20)
    expect(asked).toHaveLength(3)
    expect(asked[0]).toMatchObject({ mostAudit: 200_000, mostSeen: 10_000, most: 5_000 })
    expect(await trimHistory({ store, retention, now, signal })).toBe(20)
    expect(asked).toHaveLength(5)
  })
})
