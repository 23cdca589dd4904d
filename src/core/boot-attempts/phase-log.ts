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
export class PhaseLog {
  #phase: BootPhase = 'dhcp'
  #since: number
  #lastAt: number
  #isBegun = false
  /** One bit for each phase that it was in. */
  #visited = 0
  readonly #spans: PhaseSpan[] = []
  readonly #silences: Partial<Record<BootPhase, number>> = {}

  constructor(startedAt: number) {
    this.#since = startedAt
    this.#lastAt = startedAt
  }

  get phase(): BootPhase {
    return this.#phase
  }

  get lastAt(): number {
    return this.#lastAt
  }

  /** The last one goes on. */
  get spans(): readonly PhaseSpan[] {
    return [...this.#spans, { phase: this.#phase, startedAt: this.#since }]
  }

  get silences(): PhaseSilences {
    return this.#silences
  }

  /** A sign of life: what was silent until then was so in the present phase. */
  alive(at: number): void {
    const silence = at - this.#lastAt
    if (silence <= 0) return
    if (silence > (this.#silences[this.#phase] ?? 0)) this.#silences[this.#phase] = silence
    this.#lastAt = at
  }

  /** `begins`: it starts with this phase anew, though it was further. */
  visit(next: BootPhase, at: number, begins = false): void {
    if (this.#isBegun && next === this.#phase) return
    const bit = 1 << placeOf[next]
    if ((this.#visited & bit) !== 0 && !begins) return
    if (begins) this.#visited &= bit - 1
    this.#visited |= bit
    // What took no time at all was not one.
    if (this.#isBegun && at > this.#since) {
      this.#spans.push({ phase: this.#phase, startedAt: this.#since, endedAt: at })
    }
    this.#phase = next
    this.#since = at
    this.#isBegun = true
  }
}
