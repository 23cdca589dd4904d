import type { BootEvent } from '../core/boot-event.ts'
import type { Log } from '../core/log.ts'
import { reasonText } from '../core/reason.ts'

/** A log line before it is written. */
export interface BootLogLine {
  readonly level: 'debug' | 'info' | 'warn'
  readonly message: string
  readonly fields: object
}

/**
 * One boot step as one log line: fixed message, facts as fields, so that lines can be counted.
 * What real firmware does all day (probes with HEAD, ranges, aborts after the header) never reaches `warn`, or it
 * would bury what needs a person (field case 165). `undefined`: the step has its line already, from the protocol that
 * made it and knows more of it.
 */
export function bootLogLine(event: BootEvent): BootLogLine | undefined {
  if (event.type === 'dhcp-answered' || event.type === 'tftp-ended') return undefined
  if (event.type === 'decided') {
    const { bootId, kind, reason, mac, host, address, bootimage } = event
    const needsAttention = kind === 'hold' && reason !== 'mode-hold'
    // The sentences of the script, word for word (G10).
    const reasons = event.reasons.map(reasonText)
    const fields = { bootId, kind, reason, reasons, mac, host, address, bootimage }
    return { level: needsAttention ? 'warn' : 'info', message: 'boot decided', fields }
  }
  const { type, at, ...fields } = event
  const isWholeFile = event.method === 'GET' && event.status === 200
  if (isWholeFile && event.completed) return { level: 'info', message: 'artifact sent', fields }
  if (event.method === 'GET' && !event.completed) {
    return { level: 'info', message: 'artifact transfer ended early', fields }
  }
  return { level: 'debug', message: 'artifact request answered', fields }
}

/** Writes boot events to the log, as they come from the boot service's event stream. */
export function createBootLog({ log }: { log: Log }): (event: BootEvent) => void {
  return function logBootEvent(event) {
    const line = bootLogLine(event)
    if (line !== undefined) log[line.level](line.fields, line.message)
  }
}
