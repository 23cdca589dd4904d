import { describe, expect, it } from 'vitest'
import type { PendingChange } from '../../src/core/bootimage-state.ts'
import { type ChangePolicies, changeClasses, defaultChangePolicies } from '../../src/core/change.ts'
import { type ChangePlan, type PlanChangeInput, planChange } from '../../src/streams/plan-change.ts'
import { makeBootimage } from '../fakes/bootimages.ts'

const june = makeBootimage({ release: '43.20260601.3.0' })
const may = makeBootimage({ release: '43.20260505.3.0' })

function plan(input: Partial<PlanChangeInput>): ChangePlan {
  return planChange({
    change: 'rolled-back',
    offered: june,
    policies: defaultChangePolicies,
    now: 1000,
    ...input,
  })
}

function pendingOf(result: ChangePlan): PendingChange {
  if ('pending' in result) return result.pending
  throw new Error(`nothing is pending after ${result.action}`)
}

describe('planChange', () => {
  it.each([
    ['first', 'follow'],
    ['unchanged', 'keep'],
    ['advanced', 'follow'],
    ['rolled-back', 'confirm'],
    ['regenerated', 'keep'],
    ['republished', 'hold'],
    ['corrected', 'follow'],
    ['withdrawn', 'keep'],
    ['partial', 'keep'],
  ] as const)('by default, %s means %s', (change, action) => {
    expect(plan({ change }).action).toBe(action)
  })

  it('what offers nothing is never followed, whatever it is called', () => {
    const policies = { advanced: 'follow', 'rolled-back': 'follow', republished: 'follow' } as const
    for (const change of changeClasses)
      expect(planChange({ change, policies, now: 1 })).toEqual({ action: 'keep' })
  })

  it('G9 going back is followed after a second refresh says the same', () => {
    const first = plan({ now: 1000 })
    expect(first).toEqual({
      action: 'confirm',
      pending: {
        change: 'rolled-back',
        bootimage: june.id,
        release: june.release,
        seen: 1,
        firstSeenAt: 1000,
        policy: 'confirm',
      },
    })
    expect(plan({ pending: pendingOf(first), now: 2000 })).toEqual({ action: 'follow' })
  })

  it('G9 going back to another release starts the count anew', () => {
    const first = pendingOf(plan({ now: 1000 }))
    const second = plan({ offered: may, pending: first, now: 2000 })
    expect(pendingOf(second)).toMatchObject({ bootimage: may.id, seen: 1, firstSeenAt: 2000 })
    expect(plan({ offered: may, pending: pendingOf(second), now: 3000 }).action).toBe('follow')
  })

  it('G9 a refresh in between that says otherwise clears the count', () => {
    expect(plan({ change: 'unchanged', pending: pendingOf(plan({})) })).toEqual({ action: 'keep' })
    expect(plan({ change: 'partial', pending: pendingOf(plan({})) })).toEqual({ action: 'keep' })
  })

  it('G9 with mirrors, going back waits until the canonical source agrees', () => {
    let pending = pendingOf(plan({ canonicalAgrees: false, now: 1000 }))
    for (const now of [2000, 3000]) pending = pendingOf(plan({ canonicalAgrees: false, pending, now }))
    expect(pending).toMatchObject({ seen: 3, firstSeenAt: 1000, policy: 'confirm' })
    expect(plan({ canonicalAgrees: true, pending, now: 4000 })).toEqual({ action: 'follow' })
  })

  it('the agreement of the canonical source alone is no second refresh', () => {
    expect(plan({ canonicalAgrees: true }).action).toBe('confirm')
  })

  it('G8 a republication is held and counted, never followed', () => {
    let pending = pendingOf(plan({ change: 'republished', now: 1000 }))
    for (const now of [2000, 3000, 4000]) {
      const next = plan({ change: 'republished', pending, now })
      expect(next.action).toBe('hold')
      pending = pendingOf(next)
    }
    expect(pending).toMatchObject({ seen: 4, firstSeenAt: 1000, policy: 'hold' })
  })

  it('a count under another policy or for another change does not go on', () => {
    const held = pendingOf(plan({ change: 'republished' }))
    expect(pendingOf(plan({ pending: held, now: 2000 }))).toMatchObject({ seen: 1, firstSeenAt: 2000 })
    const policies: ChangePolicies = { ...defaultChangePolicies, 'rolled-back': 'hold' }
    const confirming = pendingOf(plan({}))
    expect(pendingOf(plan({ policies, pending: confirming, now: 2000 }))).toMatchObject({
      seen: 1,
      policy: 'hold',
    })
  })

  it.each([
    ['advanced', 'hold', 'hold'],
    ['advanced', 'confirm', 'confirm'],
    ['rolled-back', 'follow', 'follow'],
    ['rolled-back', 'hold', 'hold'],
    ['republished', 'follow', 'follow'],
    ['republished', 'confirm', 'confirm'],
  ] as const)('an admin may choose: %s with policy %s means %s', (change, policy, action) => {
    expect(plan({ change, policies: { ...defaultChangePolicies, [change]: policy } }).action).toBe(action)
  })
})
