import type { CountedEvent } from '../../core/boot-attempt.ts'
import type { BootEvent } from '../../core/boot-event.ts'

type Decided = Extract<BootEvent, { type: 'decided' }>
type Reported = Extract<BootEvent, { type: 'reported' }>

/**
 * What was decided last and what the machine said to that, without reading the other steps: for lists of a hundred
 * thousand machines.
 */
export function lastWords(events: readonly CountedEvent[]): {
  readonly decided: Decided | undefined
  readonly reported: Reported | undefined
} {
  let reported: Reported | undefined
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index]?.event
    if (event?.type === 'decided') return { decided: event, reported }
    // One that was installed and then booted is told as installed.
    if (event?.type === 'reported' && (reported === undefined || event.status === 'installed')) {
      reported = event
    }
  }
  return { decided: undefined, reported }
}
