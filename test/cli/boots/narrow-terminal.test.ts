import { expect, test } from 'vitest'
import { bootTable } from '../../../src/cli/boots/boot-table.ts'
import { bootText } from '../../../src/cli/boots/boot-text.ts'
import { runningBoot, sampleBootDetail, stuckBoot } from '../../fakes/boot-operations.ts'

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

test.each([20, 32, 49])('on a terminal of %i columns no line of a boot is wider', (width) => {
  const style = { color: false, width }
  expect(widest(bootTable([runningBoot, stuckBoot], style))).toBeLessThanOrEqual(width)
  expect(widest(bootText(sampleBootDetail, style))).toBeLessThanOrEqual(width)
  expect(bootTable([stuckBoot], style)).toContain(stuckBoot.id)
})
