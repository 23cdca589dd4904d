import { createTimeline, type TimelineMaxima } from '../../src/boot/timeline/create-timeline.ts'
import type { BootAttempt } from '../../src/core/boot-attempt.ts'
import type { BootEvent } from '../../src/core/boot-event.ts'
import type { BootPatternCode } from '../../src/core/boot-pattern.ts'
import { testStart } from './boot-steps.ts'

/** Plays steps to a timeline as time goes by, settling every half second as the service does four times a second. */
export function createBootPlayer({ maxima }: { readonly maxima?: Partial<TimelineMaxima> } = {}) {
  let now = testStart
  let seed = 1
  const overs: BootAttempt[] = []
  const diagnoses: {
    readonly code: BootPatternCode
    readonly text: string
    readonly afterSeconds: number
  }[] = []
  const changes: string[] = []
  const timeline = createTimeline({
    clock: { now: () => now },
    random: () => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    },
    listeners: {
      onChange: (id) => changes.push(id),
      onOver: (attempt) => overs.push(attempt),
      onDiagnosis: (_attempt, { code, text }) =>
        diagnoses.push({ code, text, afterSeconds: Math.round((now - testStart) / 1000) }),
    },
    maxima,
  })

  function moveTo(time: number): void {
    while (now + 500 < time) {
      now += 500
      timeline.settle(now)
    }
    now = Math.max(now, time)
  }

  return {
    timeline,
    overs,
    diagnoses,
    changes,
    now: () => now,
    play(events: readonly BootEvent[]): void {
      for (const event of events) {
        moveTo(event.at)
        timeline.note(event)
      }
      timeline.settle(now)
    },
    /** Until so many seconds after the start. */
    waitUntil(seconds: number): void {
      moveTo(testStart + seconds * 1000)
      timeline.settle(now)
    },
    /** The clock is set, and everybody's times with it. */
    setClock(time: number): void {
      now = time
      timeline.settle(now)
    },
    /** Oldest first. */
    attempts: (): readonly BootAttempt[] => [...timeline.attempts()].reverse(),
  }
}
