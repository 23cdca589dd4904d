import { describe, expect, test } from 'vitest'
import { checkBoots, type PatternFacts } from '../../src/doctor/check-boots.ts'

const loop: PatternFacts = {
  code: 'loader-loop',
  title: 'the loader starts itself again and again',
  remedy: 'Give iPXE the script.',
  machines: [],
  count: 0,
}

describe('boots', () => {
  test('are not told of where no service was asked', () => {
    expect(checkBoots(undefined)).toEqual([])
  })

  test('that show nothing known are fine', () => {
    expect(checkBoots([loop, loop])).toEqual([
      {
        check: 'boots',
        severity: 'ok',
        what: 'no machine shows one of the 2 known ways in which boots go wrong',
      },
    ])
  })

  test('a pattern that shows now is a warning with its machines and the remedy', () => {
    expect(checkBoots([loop, { ...loop, machines: ['n1'], count: 1 }])).toEqual([
      {
        check: 'boots',
        severity: 'warning',
        what: '1 machine: the loader starts itself again and again: n1',
        todo: 'Give iPXE the script.',
      },
    ])
  })

  test('of many machines some are named', () => {
    const machines = Array.from({ length: 20 }, (_, index) => `n${index}`)
    const [finding] = checkBoots([{ ...loop, machines, count: 300 }])
    expect(finding?.what).toBe(
      '300 machines: the loader starts itself again and again: n0, n1, n2, n3, n4 and 295 others',
    )
  })
})
