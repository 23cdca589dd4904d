import { describe, expect, it } from 'vitest'
import { createLocalReturns, type LocalReturn } from '../../src/boot/local-returns.ts'
import type { DecisionKind } from '../../src/core/boot-decision.ts'
import type { BootEvent, BootId } from '../../src/core/boot-event.ts'
import { reason } from '../../src/core/reason.ts'
import { nodeMac } from '../fakes/machines.ts'

const minute = 60_000

function decided(at: number, kind: DecisionKind = 'local', host: string | undefined = 'n01'): BootEvent {
  const why = reason('mode-local')
  const bootId = 'A'.repeat(22) as BootId
  return { type: 'decided', at, bootId, kind, reason: why.code, reasons: [why], mac: nodeMac, host }
}

function watch(maximum?: number) {
  const told: LocalReturn[] = []
  const returns = createLocalReturns({
    onReturning: (found) => told.push(found),
    ...(maximum === undefined ? {} : { maximum }),
  })
  const note = (...events: readonly BootEvent[]) => {
    for (const event of events) returns.note(event)
  }
  return { returns, told, note }
}

describe('a machine that comes back although it is to boot from its disk (field case 123)', () => {
  it('is flagged with the third script in ten minutes, and told once an hour', () => {
    const { returns, told, note } = watch()
    note(decided(0), decided(4 * minute))
    expect(returns.isReturning('n01', 4 * minute)).toBe(false)
    note(decided(9 * minute))
    expect(returns.isReturning('n01', 9 * minute)).toBe(true)
    for (let at = 10; at < 68; at += 1) note(decided(at * minute))
    expect(told).toEqual([{ host: 'n01', mac: nodeMac, returns: 3 }])
    note(decided(69 * minute))
    expect(told).toHaveLength(2)
  })

  it('is not, when it comes once in a while, or asks several times within one boot', () => {
    const { returns, told, note } = watch()
    for (let time = 0; time < 10; time += 1) {
      const at = time * 6 * minute
      note(decided(at), decided(at + 200), decided(at + 900))
    }
    expect(returns.isReturning('n01', 54 * minute)).toBe(false)
    expect(told).toEqual([])
  })

  it('is not any more when it is told something else, or was silent for an hour', () => {
    const { returns, note } = watch()
    const three = (start: number) => [0, 1, 2].map((time) => decided(start + time * minute))
    note(...three(0))
    expect(returns.isReturning('n01', 3 * minute)).toBe(true)
    expect(returns.isReturning('n01', 62 * minute)).toBe(false)
    note(decided(4 * minute, 'live'))
    expect(returns.isReturning('n01', 4 * minute)).toBe(false)
    note(decided(5 * minute), decided(6 * minute))
    expect(returns.isReturning('n01', 6 * minute)).toBe(false)
  })

  it('that nobody knows is told by its MAC', () => {
    const { told, note } = watch()
    note(...[0, 1, 2].map((time) => ({ ...decided(time * minute), host: undefined })))
    expect(told).toEqual([{ host: undefined, mac: nodeMac, returns: 3 }])
  })

  it('is forgotten before those that were here later, when there are too many', () => {
    const { returns, note } = watch(2)
    for (const time of [0, 1, 2]) for (const host of ['a', 'b']) note(decided(time * minute, 'local', host))
    note(decided(2 * minute, 'local', 'c'))
    expect(['a', 'b'].map((host) => returns.isReturning(host, 2 * minute))).toEqual([false, true])
  })
})
