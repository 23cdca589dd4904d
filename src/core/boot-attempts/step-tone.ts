import type { AttemptStep } from '../boot-attempt.ts'
import type { BootEvent } from '../boot-event.ts'

/** What real firmware does all day (looks, aborts after a look) is normal, or it would bury what is not. */
export function stepTone(event: BootEvent): AttemptStep['tone'] {
  switch (event.type) {
    case 'reported':
      return event.status === 'failed' ? 'bad' : 'good'
    case 'diagnosed':
    case 'token-refused':
    case 'dhcp-troubled':
      return 'bad'
    case 'decided':
      return event.kind === 'hold' ? 'bad' : 'normal'
    case 'artifact-sent':
      if (event.status >= 400) return 'bad'
      return event.method === 'GET' && !event.completed ? 'bad' : 'normal'
    case 'tftp-ended':
      return event.isWhole ? 'normal' : 'bad'
    default:
      // A loader asks for optional files that nobody has.
      return 'normal'
  }
}
