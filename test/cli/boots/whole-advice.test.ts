import { describe, expect, it } from 'vitest'
import { diagnosisLines } from '../../../src/cli/boots/boot-text.ts'
import { patternTable } from '../../../src/cli/boots/pattern-table.ts'
import { bootPatternInfos } from '../../../src/core/boot-patterns/patterns.ts'

const at = '2026-11-30T12:00:00Z'
const words = (text: string) => text.replaceAll(/\s+/g, ' ')

describe('what to do is shown in full', () => {
  it.each(bootPatternInfos)('$code', ({ code, text, remedy }) => {
    const lines = diagnosisLines({ code, text, remedy, at }, 80)
    expect(words(lines.join(' '))).toContain(words(remedy))
  })

  it('and in the table of all patterns', () => {
    const patterns = bootPatternInfos.map((info) => ({
      ...info,
      cases: [...info.cases],
      machines: [],
      diagnoses: [],
      count: 0,
    }))
    const table = words(patternTable(patterns, { color: false, width: 90 }))
    for (const { remedy } of bootPatternInfos) expect(table).toContain(words(remedy))
  })

  it('but a remedy without end is not', () => {
    const remedy = 'look '.repeat(10_000)
    const lines = diagnosisLines({ code: 'overdue', text: 'silent', remedy, at }, 80)
    expect(lines.join('').length).toBeLessThan(4_000)
  })
})
