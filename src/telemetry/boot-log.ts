import type { BootAttempt, Diagnosis } from '../core/boot-attempt.ts'
import type { BootEvent, BootId } from '../core/boot-event.ts'
import type { Clock, Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { MacAddress } from '../core/mac.ts'
import { reasonText } from '../core/reason.ts'
import { createLineBudget } from './line-budget.ts'

/** A log line before it is written. */
export interface BootLogLine {
  readonly level: 'debug' | 'info' | 'warn'
  readonly message: string
  readonly fields: object
}

/** How boots of machines that no record matches ended or stand still: a new rack is told, made-up ones are counted. */
const strangerLinesPerSecond = 20

const decidedMessage = 'boot decided'

/**
 * One boot step as one log line: fixed message, facts as fields, so that lines can be counted.
 * What real firmware does all day (probes with HEAD, ranges, aborts after the header) never reaches `warn`, or it
 * would bury what needs a person (field case 165). `undefined`: the step has its line already, from the protocol that
 * made it and knows more of it.
 */
export function bootLogLine(event: BootEvent): BootLogLine | undefined {
  if (!isTold(event)) return undefined
  if (event.type === 'decided') {
    const { bootId, kind, reason, mac, uuid, serial, arch, host, address, bootimage, loader, trace } = event
    const needsAttention = kind === 'hold' && reason !== 'mode-hold'
    // The sentences of the script, word for word (G10).
    const reasons = event.reasons.map(reasonText)
    // Written out: each boot comes by here, and to join two objects takes longer than all the rest.
    const fields = {
      bootId,
      kind,
      reason,
      reasons,
      mac,
      uuid,
      serial,
      arch,
      host,
      address,
      loader,
      bootimage,
      trace,
    }
    return { level: needsAttention ? 'warn' : 'info', message: decidedMessage, fields }
  }
  if (event.type === 'entry-sent') {
    const { type, at, ...fields } = event
    return { level: 'info', message: 'first script sent', fields }
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

const toldTypes = ['decided', 'entry-sent', 'artifact-sent', 'ignition-sent', 'reported'] as const
const told: ReadonlySet<BootEvent['type']> = new Set(toldTypes)
type ToldEvent = Extract<BootEvent, { type: (typeof toldTypes)[number] }>

function isTold(event: BootEvent): event is ToldEvent {
  return told.has(event.type)
}

/** How a boot ended, as one line: who, what became of it, how long each phase took. */
export function overLogLine(attempt: BootAttempt): BootLogLine {
  const { id, outcome, startedAt, lastAt, endedAt = lastAt, phases, decision, osVersion, diagnosis } = attempt
  const fields = {
    ...machineOf(attempt),
    attempt: id,
    outcome,
    durationMs: Math.max(0, endedAt - startedAt),
    phasesMs: phaseDurations(phases),
    bootimage: decision?.bootimage,
    osVersion,
    pattern: diagnosis?.code,
  }
  // What failed was told by its report, what was refused by its decision; who asked twice and left is no trouble.
  const isTrouble = outcome === 'lost' && diagnosis !== undefined
  return { level: isTrouble ? 'warn' : 'info', message: 'boot is over', fields }
}

/** What is wrong with a boot and what to do, as one line. */
export function diagnosisLogLine(attempt: BootAttempt, { code, text, remedy }: Diagnosis): BootLogLine {
  const { id, phase } = attempt
  const fields = { ...machineOf(attempt), attempt: id, phase, pattern: code, what: text, todo: remedy }
  return { level: 'warn', message: 'a boot does not go on', fields }
}

/** Every card, so that whoever looks for one of them finds the line. */
function machineOf({ bootIds, mac, otherMacs, host, address }: BootAttempt): object {
  return { bootId: bootIds.at(-1), mac, otherMacs: otherMacs?.join(' '), host, address }
}

/** Text, so that it stays one field; a phase that came twice is the sum of both. */
function phaseDurations(spans: BootAttempt['phases']): string {
  const sums = new Map<string, number>()
  for (const { phase, startedAt, endedAt } of spans) {
    if (endedAt !== undefined) sums.set(phase, (sums.get(phase) ?? 0) + Math.max(0, endedAt - startedAt))
  }
  return [...sums].map(([phase, ms]) => `${phase}=${ms}`).join(' ')
}

export interface BootLog {
  write(event: BootEvent): void
  /** A boot attempt is over. */
  onOver(attempt: BootAttempt): void
  /** Something is wrong with it. */
  onDiagnosis(attempt: BootAttempt, diagnosis: Diagnosis): void
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
  macOf = () => undefined,
}: {
  readonly log: Log
  readonly clock: Clock
  readonly timers: Timers
  /** Whose step it is, where the step itself does not say. */
  readonly macOf?: (step: { readonly bootId?: BootId; readonly address?: string }) => MacAddress | undefined
}): BootLog {
  const budget = createLineBudget({ clock })
  const strangerBudget = createLineBudget({
    clock,
    linesPerSecond: strangerLinesPerSecond,
    firstsPerSecond: 0,
  })
  const counted = new Map<string, number>()
  let cancel: (() => void) | undefined

  function withMac(line: BootLogLine, event: BootEvent): BootLogLine {
    if ('mac' in event && event.mac !== undefined) return line
    const mac = macOf({
      ...('bootId' in event && { bootId: event.bootId }),
      ...('address' in event && { address: event.address }),
    })
    return mac === undefined ? line : { ...line, fields: { ...line.fields, mac } }
  }

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

  function writeLine(line: BootLogLine | undefined, event: BootEvent): void {
    if (line === undefined) return
    const { level, fields, message } = withMac(line, event)
    log[level](fields, message)
  }

  /** `make` only puts together what is written. */
  function writeOrCount({ host, mac, address }: BootAttempt, what: string, make: () => BootLogLine): void {
    const isKnown = host !== undefined
    const key = `${what} ${host ?? mac ?? address}`
    if (!(isKnown ? budget : strangerBudget).admits(key, isKnown)) {
      count(what)
      return
    }
    const { level, fields, message } = make()
    log[level](fields, message)
  }

  return {
    write(event) {
      // In a flood most of these are only counted, and need no words.
      if (event.type === 'decided') {
        const { key, isKnown } = subjectOf(event, '')
        const { kind, reason } = event
        if (!budget.admits(key, isKnown)) count(`${decidedMessage}: ${kind}, ${reason}`)
        else writeLine(bootLogLine(event), event)
        return
      }
      const line = bootLogLine(event)
      if (line === undefined) return
      const { key, isKnown } = subjectOf(event, line.message)
      if (line.level === 'debug' || budget.admits(key, isKnown)) writeLine(line, event)
      else count(line.message)
    },
    onOver(attempt) {
      writeOrCount(attempt, `boot is over: ${attempt.outcome}`, () => overLogLine(attempt))
    },
    onDiagnosis(attempt, diagnosis) {
      writeOrCount(attempt, `a boot does not go on: ${diagnosis.code}`, () =>
        diagnosisLogLine(attempt, diagnosis),
      )
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
