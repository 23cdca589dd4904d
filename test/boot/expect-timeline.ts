import { expect } from 'vitest'
import { bootText } from '../../src/cli/boots/boot-text.ts'
import { type BootPhase, bootPhases } from '../../src/core/boot-attempt.ts'
import type { BootDetail } from '../../src/http/admin/schemas/boots.ts'

const width = 110

/**
 * The service saw the whole boot: each of these phases, one after the other, up to the report; nothing was wrong with
 * it, and nothing was logged as if it were.
 */
export function expectTimeline(
  boot: BootDetail,
  { phases, release, log }: { phases: readonly BootPhase[]; release: string; log: string },
): void {
  expect(boot).toMatchObject({ state: 'over', outcome: 'booted', release })
  expect(boot.diagnosis).toBeUndefined()
  expect(boot.steps.filter(({ tone, type }) => tone === 'bad' && type === 'diagnosed')).toEqual([])
  expect(boot.steps.at(-1)?.type).toBe('reported')
  const seen = boot.phases.map(({ phase }) => phase)
  expect(seen).toEqual(bootPhases.filter((phase) => seen.includes(phase)))
  expect(seen).toEqual(expect.arrayContaining([...phases]))
  for (const [index, { startedAt, durationMs }] of boot.phases.entries()) {
    expect(durationMs).toBeGreaterThanOrEqual(0)
    if (index > 0) expect(boot.phases[index - 1]?.endedAt).toBe(startedAt)
  }
  expect(log.split('\n').filter((line) => isAbout(boot, line))).toEqual([])
}

/** A warning that tells of this machine; what the configuration is warned of is another matter. */
function isAbout({ mac, host, bootIds, address }: BootDetail, line: string): boolean {
  if (!/"level":"(?:warn|error)"/.test(line)) return false
  return [mac, host, address, ...bootIds].some((name) => name !== undefined && line.includes(name))
}

/** As `pilotlight boots show` draws it. */
export function timelineText(boot: BootDetail): string {
  return bootText(boot, { color: false, width })
}
