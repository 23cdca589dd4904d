import { describe, expect, it } from 'vitest'
import { changeClasses, hasPolicy } from '../../src/core/change.ts'
import { pendingChangeText } from '../../src/core/pending-change-text.ts'
import { scriptText } from '../../src/render/script-text.ts'

describe('pendingChangeText', () => {
  it.each([
    ['advanced', 'hold', 1, 'held by streams.s.changes.advanced: hold'],
    ['rolled-back', 'hold', 4, 'held by streams.s.changes.rolledBack: hold'],
    ['republished', 'hold', 1, 'held by streams.s.changes.republished: hold'],
    [
      'rolled-back',
      'confirm',
      1,
      'waits for a second refresh that says the same (streams.s.changes.rolledBack: confirm)',
    ],
    ['rolled-back', 'confirm', 3, 'waits until the source itself says what a mirror says'],
  ] as const)('G10 %s with %s names what decides it', (change, policy, seen, words) => {
    expect(pendingChangeText('s', { change, policy, seen })).toContain(words)
  })

  it('G10 a script can say every one of them as it is', () => {
    for (const change of changeClasses.filter(hasPolicy)) {
      for (const policy of ['hold', 'confirm'] as const) {
        const text = pendingChangeText('fcos-stable', { change, policy, seen: 2 })
        expect(scriptText(text)).toBe(text)
      }
    }
  })
})
