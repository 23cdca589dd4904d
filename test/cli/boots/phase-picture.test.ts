import { describe, expect, test } from 'vitest'
import { phasePicture } from '../../../src/cli/boots/phase-picture.ts'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import { sampleBootDetail } from '../../fakes/boot-operations.ts'

const noon = Date.parse('2026-11-29T12:00:00Z')

type Given = readonly [
  phase: BootDetail['phases'][number]['phase'],
  fromMs: number,
  durationMs: number,
  limitMs?: number,
]

/** A boot with these phases; one with a limit goes on. */
function boot(...phases: readonly Given[]): BootDetail {
  return {
    ...sampleBootDetail,
    startedAt: new Date(noon).toISOString(),
    phases: phases.map(([phase, fromMs, durationMs, limitMs]) => ({
      phase,
      startedAt: new Date(noon + fromMs).toISOString(),
      durationMs,
      ...(limitMs === undefined
        ? { endedAt: new Date(noon + fromMs + durationMs).toISOString() }
        : { limitMs }),
    })),
  }
}

const real = boot(
  ['dhcp', 0, 4_000],
  ['loader', 4_000, 500],
  ['script', 4_500, 20],
  ['rootfs', 5_000, 15_000],
)

describe('a picture of phases', () => {
  test('is drawn on one scale of time, and what is too short to be seen has one cell', () => {
    expect(phasePicture(real, 60)).toEqual([
      'dhcp       ████████                                   4.0 s',
      'loader             █                                  500 ms',
      'script              █                                 20 ms',
      'rootfs               ███████████████████████████████  15 s',
    ])
  })

  test('shows in another shade what goes on, with its limit, and says when that is over', () => {
    const [within] = phasePicture(boot(['rootfs', 0, 11_000, 120_000]), 60)
    expect(within).toMatch(/^rootfs {5}▒+ {2}11 s of at most 2 min$/)
    const [over] = phasePicture(boot(['kernel', 0, 150_000, 120_000]), 60)
    expect(over).toMatch(/^kernel {5}▒+ {2}2 min 30 s, overdue after 2 min$/)
  })

  test.each([20, 1, 0, 10, 38])(
    '%d columns: no line is wider, and there are no bars without room',
    (width) => {
      const lines = phasePicture(real, width)
      expect(lines).toHaveLength(4)
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width)
      if (width <= 20) expect(lines.join('')).not.toContain('█')
    },
  )

  test('a boot of no time, of a clock that jumped back, and of a whole day are drawn', () => {
    for (const odd of [
      boot(['dhcp', 0, 0]),
      boot(['dhcp', -5_000, 1_000], ['script', -9_000, 0]),
      boot(['rootfs', 86_400_000, 1]),
      boot(),
    ]) {
      for (const line of phasePicture(odd, 80)) expect([...line].length).toBeLessThanOrEqual(80)
    }
  })
})
