import type { BootEvent } from '../core/boot-event.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { reasonText } from '../core/reason.ts'
import { createLineBudget } from './line-budget.ts'

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
  if (!isTold(event)) return undefined
  if (event.type === 'decided') {
    const { bootId, kind, reason, mac, uuid, serial, arch, host, address, bootimage } = event
    const needsAttention = kind === 'hold' && reason !== 'mode-hold'
    // The sentences of the script, word for word (G10).
    const reasons = event.reasons.map(reasonText)
    const fields = { bootId, kind, reason, reasons, mac, uuid, serial, arch, host, address, bootimage }
    return { level: needsAttention ? 'warn' : 'info', message: 'boot decided', fields }
  }
  if (event.type === 'ignition-sent') {
    const { type, at, ...fields } = event
    return { level: 'info', message: 'Ignition config sent', fields }
  }
  if (event.type === 'reported') {
    const { type, at, isKnown, ...fields } = event
    if (isKnown) return { level: 'debug', message: 'machine reported again', fields }
    return { level: event.status === 'failed' ? 'warn' : 'info', message: 'machine reported', fields }
  }
  const { type, at, ...fields } = event
  const isWholeFile = event.method === 'GET' && event.status === 200
  if (isWholeFile && event.completed) return { level: 'info', message: 'artifact sent', fields }
  if (event.method === 'GET' && !event.completed) {
    return { level: 'info', message: 'artifact transfer ended early', fields }
  }
  return { level: 'debug', message: 'artifact request answered', fields }
}

type ToldEvent = Extract<BootEvent, { type: 'decided' | 'artifact-sent' | 'ignition-sent' | 'reported' }>

function isTold(event: BootEvent): event is ToldEvent {
  return ['decided', 'artifact-sent', 'ignition-sent', 'reported'].includes(event.type)
}

export interface BootLog {
  write(event: BootEvent): void
  /** Tells what was only counted so far. */
  flush(): void
}

/**
 * Writes boot events to the log, as they come from the boot service's event stream. In a flood only the first line of
 * each machine is written in full; the others are counted, and told in one line a second.
 */
export function createBootLog({
  log,
  clock,
  timers,
}: {
  readonly log: Log
  readonly clock: Clock
  readonly timers: Timers
}): BootLog {
  const budget = createLineBudget({ clock })
  const counted = new Map<string, number>()
  let cancel: (() => void) | undefined

  function flush(): void {
    cancel?.()
    cancel = undefined
    if (counted.size === 0) return
    const lines = Object.fromEntries(counted)
    counted.clear()
    log.info({ lines }, 'too many boot steps to log each: these were left out')
  }

  function count(what: string): void {
    counted.set(what, (counted.get(what) ?? 0) + 1)
    cancel ??= timers.after(1000, flush)
  }

  return {
    write(event) {
      const line = bootLogLine(event)
      if (line === undefined) return
      const { level, fields, message } = line
      const { key, isKnown } = subjectOf(event, message)
      if (level === 'debug' || budget.admits(key, isKnown)) log[level](fields, message)
      else count(event.type === 'decided' ? `${message}: ${event.kind}, ${event.reason}` : message)
    },
    flush,
  }
}

/** Whose line it is; a decision that differs from the machine's last one is the first of its kind. */
function subjectOf(event: BootEvent, message: string): { readonly key: string; readonly isKnown: boolean } {
  if (event.type !== 'decided')
    return { key: `${message} ${'address' in event ? event.address : ''}`, isKnown: false }
  const { host, mac, uuid, serial, address, kind, reason } = event
  const machine = host ?? mac ?? uuid ?? serial ?? address
  return { key: `${kind} ${reason} ${machine}`, isKnown: host !== undefined }
}
