import { describe, expect, it } from 'vitest'
import { createProgressMeter } from '../../src/artifacts/progress-meter.ts'

describe('createProgressMeter', () => {
  it('reports at most four times a second', () => {
    const meter = createProgressMeter(0, 0)
    const reports: number[] = []
    for (let now = 1; now <= 10_000; now += 1) if (meter.advance(now, now) !== undefined) reports.push(now)
    expect(reports).toHaveLength(40)
  })

  it('tells bytes a second, not counting what was there before', () => {
    const meter = createProgressMeter(1_000_000, 0)
    expect(meter.advance(1_500_000, 500)).toBe(1_000_000)
  })

  it('does not jump with every hiccup', () => {
    const meter = createProgressMeter(0, 0)
    meter.advance(1000, 1000)
    const stalled = meter.advance(1000, 2000)
    expect(stalled).toBe(700)
  })
})
