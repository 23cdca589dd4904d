import { type BootPhase, bootPhases, type PhaseSpan } from '../boot-attempt.ts'
import type { PhaseSilences } from './attempt-facts.ts'

const placeOf = Object.fromEntries(bootPhases.map((phase, index) => [phase, index])) as Record<
  BootPhase,
  number
>

/**
 * Phases of a boot, one after the other without gaps: each lasts until the next one begins. A phase that it was in is
 * not entered again by a straggler, only by a step that begins with it anew.
 */
export function createPhaseLog(startedAt: number) {
  let phase: BootPhase = 'dhcp'
  let since = startedAt
  let lastAt = startedAt
  let isBegun = false
  const spans: PhaseSpan[] = []
  let visited = 0
  const silences: Partial<Record<BootPhase, number>> = {}

  function enter(next: BootPhase, at: number): void {
    if (isBegun && at > since) spans.push({ phase, startedAt: since, endedAt: at })
    // What took no time at all was not one.
    else if (isBegun && spans.length === 0) since = at
    phase = next
    since = at
    isBegun = true
    visited |= 1 << placeOf[next]
  }

  return {
    /** A sign of life: what was silent until then was so in the present phase. */
    alive(at: number): void {
      const silence = at - lastAt
      if (silence > (silences[phase] ?? 0)) silences[phase] = silence
      if (at > lastAt) lastAt = at
    },
    /** `begins`: it starts with this phase anew, though it was further. */
    visit(next: BootPhase, at: number, begins = false): void {
      if (isBegun && next === phase) return
      const wasThere = (visited & (1 << placeOf[next])) !== 0
      if (wasThere && !begins) return
      if (begins) visited &= (1 << placeOf[next]) - 1
      enter(next, at)
    },
    get phase(): BootPhase {
      return phase
    },
    get lastAt(): number {
      return lastAt
    },
    spansAt(endedAt: number | undefined): readonly PhaseSpan[] {
      const last =
        endedAt === undefined
          ? { phase, startedAt: since }
          : { phase, startedAt: since, endedAt: Math.max(since, endedAt) }
      return [...spans, last]
    },
    silences: silences as PhaseSilences,
  }
}
