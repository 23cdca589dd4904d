import type { AttemptRecord, BootAttempt, PhaseSpan } from '../boot-attempt.ts'
import type { AttemptFacts } from './attempt-facts.ts'
import { stepsOf } from './attempt-steps.ts'
import { phasesOfPatterns } from './diagnosed-phase.ts'
import { gatherFacts } from './gather-facts.ts'
import { type Standing, type StandingInput, standingOf } from './standing.ts'
import { transferOf } from './transfer-of.ts'

/**
 * What the events of an attempt come to at a time. The same record at the same time is the same attempt; its steps are
 * put into words when they are first read.
 */
export function reduceAttempt(record: AttemptRecord, input: StandingInput): BootAttempt {
  const facts = gatherFacts(record)
  return attemptOf(record, facts, standingOf(facts, record, input))
}

export function attemptOf(record: AttemptRecord, facts: AttemptFacts, standing: Standing): BootAttempt {
  const { id, host, mac, otherMacs, startedAt, leftOut, diagnosis } = record
  const { decision, spans } = facts
  // The list in the record grows; what is told here stays as it is.
  const events = record.events.slice()
  let steps: BootAttempt['steps'] | undefined
  const attempt: BootAttempt = {
    id,
    bootIds: facts.bootIds,
    host,
    mac,
    otherMacs,
    uuid: facts.uuid,
    serial: facts.serial,
    address: facts.address,
    arch: facts.arch,
    firmware: facts.firmware,
    loader: facts.loader,
    startedAt,
    lastAt: facts.lastAt,
    state: diagnosis !== undefined && standing.state === 'running' ? 'stuck' : standing.state,
    outcome: standing.outcome,
    endedAt: standing.endedAt,
    phase: diagnosis === undefined ? facts.phase : (phasesOfPatterns[diagnosis.code] ?? facts.phase),
    phases: spansOf(facts, standing),
    get steps() {
      steps ??= stepsOf(events, startedAt, spans, otherMacs !== undefined)
      return steps
    },
    leftOut,
    transfer: transferOf(facts),
    decision:
      decision === undefined
        ? undefined
        : { kind: decision.kind, reasons: decision.reasons, bootimage: decision.bootimage },
    osVersion: facts.report?.osVersion,
    diagnosis,
  }
  return attempt
}

function spansOf({ spans }: AttemptFacts, { endedAt, limitMs }: Standing): readonly PhaseSpan[] {
  const last = spans.at(-1)
  if (last === undefined) return spans
  const end =
    endedAt === undefined ? { ...last, limitMs } : { ...last, endedAt: Math.max(last.startedAt, endedAt) }
  return [...spans.slice(0, -1), end]
}
