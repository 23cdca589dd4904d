import { describe, expect, test } from 'vitest'
import { checkBoots, type PatternFacts } from '../../src/doctor/check-boots.ts'

const loop: PatternFacts = {
  code: 'loader-loop',
  title: 'the loader starts itself again and again',
  remedy: 'Give iPXE the script.',
  machines: [],
  diagnoses: [],
  count: 0,
}

function shownBy(count: number, named: number, remedyOf: (machine: string) => string): PatternFacts {
  const machines = Array.from({ length: named }, (_, index) => `n${index}`)
  const diagnoses = machines.map((machine) => ({
    machine,
    text: `It loaded ipxe.efi ${machine} times.`,
    remedy: remedyOf(machine),
  }))
  return { ...loop, machines, diagnoses, count }
}

const said = (pattern: PatternFacts) => checkBoots([loop, pattern]).map(({ what, todo }) => [what, todo])

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

  test('a machine that shows a pattern is told of in its own words, as everywhere else (G10)', () => {
    expect(checkBoots([loop, shownBy(1, 1, (machine) => `Give ${machine} the script.`)])).toEqual([
      {
        check: 'boots',
        severity: 'warning',
        what: 'n0: It loaded ipxe.efi n0 times.',
        todo: 'Give n0 the script.',
      },
    ])
  })

  test('machines that are helped by the same are one finding, and some of them are named', () => {
    expect(said(shownBy(300, 20, () => 'Give it the script.'))).toEqual([
      [
        '300 machines (n0, n1, n2, n3, n4 and 295 others): the loader starts itself again and again',
        'Give it the script.',
      ],
    ])
  })

  test('machines that are helped by something else have a finding each', () => {
    expect(said(shownBy(2, 2, (machine) => `Give ${machine} the script.`))).toEqual([
      ['n0: It loaded ipxe.efi n0 times.', 'Give n0 the script.'],
      ['n1: It loaded ipxe.efi n1 times.', 'Give n1 the script.'],
    ])
  })

  test('of very many, those without a finding of their own are counted with what helps in general', () => {
    const all = said(shownBy(8, 6, (machine) => `Give ${machine} the script.`))
    expect(all).toHaveLength(6)
    expect(all.at(-1)).toEqual([
      '3 machines (n5 and 2 others): the loader starts itself again and again',
      'Give iPXE the script.',
    ])
  })

  test('one that went on while it was looked at is still counted', () => {
    expect(said({ ...loop, machines: ['n0'], count: 1 })).toEqual([
      ['1 machine (n0): the loader starts itself again and again', 'Give iPXE the script.'],
    ])
  })
})
