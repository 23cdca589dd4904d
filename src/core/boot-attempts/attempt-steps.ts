import type { AttemptStep, BootPhase, CountedEvent, PhaseSpan } from '../boot-attempt.ts'
import { phasesOfPatterns } from './diagnosed-phase.ts'
import { createStepPhases } from './step-phases.ts'
import { stepText } from './step-text.ts'
import { stepTone } from './step-tone.ts'

/** The events of an attempt as sentences, oldest first. `namesCards`: of several cards each step says its own. */
export function stepsOf(
  events: readonly CountedEvent[],
  startedAt: number,
  spans: readonly PhaseSpan[],
  namesCards = false,
): readonly AttemptStep[] {
  const phaseOf = createStepPhases()
  const steps: AttemptStep[] = []
  let at = startedAt
  for (const [index, { event, count, lastAt }] of events.entries()) {
    at = Math.max(at, event.at)
    const phase =
      event.type === 'diagnosed' ? (phasesOfPatterns[event.code] ?? phaseAt(spans, at)) : phaseOf(event)
    if (event.type === 'artifact-progress' && isOutdated(events, index)) continue
    const isProgress = event.type === 'artifact-progress'
    steps.push({
      at,
      lastAt: Math.max(at, lastAt),
      // How often its progress was told says nothing.
      count: isProgress ? 1 : count,
      phase,
      type: event.type,
      text: stepText(event, {
        ...(isProgress ? { bytesPerSecond: rateBefore(events, index) } : {}),
        ...(namesCards && 'mac' in event ? { card: event.mac } : {}),
      }),
      tone: stepTone(event),
    })
  }
  return steps
}

/** What was seen to be wrong is so where the boot stood. */
function phaseAt(spans: readonly PhaseSpan[], at: number): BootPhase {
  return spans.findLast(({ startedAt }) => startedAt <= at)?.phase ?? 'dhcp'
}

/** A newer place of the same transfer, or its end, says all that this one says. */
function isOutdated(events: readonly CountedEvent[], index: number): boolean {
  const event = events[index]?.event
  if (event?.type !== 'artifact-progress') return false
  // That it began is a step of its own as long as it goes on.
  for (let later = index + 1; later < events.length; later += 1) {
    const next = events[later]?.event
    if (next?.type === 'artifact-progress' && next.role === event.role && next.bootId === event.bootId)
      return true
    if (next?.type === 'artifact-sent' && next.role === event.role && next.method === 'GET') return true
  }
  return false
}

function rateBefore(events: readonly CountedEvent[], index: number): number | undefined {
  const event = events[index]?.event
  if (event?.type !== 'artifact-progress') return undefined
  for (let earlier = index - 1; earlier >= 0; earlier -= 1) {
    const before = events[earlier]?.event
    if (before?.type !== 'artifact-progress' || before.role !== event.role || before.bootId !== event.bootId)
      continue
    const ms = event.at - before.at
    const bytes = event.reachedBytes - before.reachedBytes
    return ms > 0 && bytes > 0 ? (bytes * 1000) / ms : undefined
  }
  return undefined
}
