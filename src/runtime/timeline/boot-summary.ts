import type { BootAttempt, Diagnosis, TransferProgress } from '../../core/boot-attempt.ts'
import { reasonText } from '../../core/reason.ts'
import type {
  BootDetail,
  BootSummary,
  BootTransfer,
  DiagnosisSummary,
} from '../../http/admin/schemas/boots.ts'
import { iso, isoIfAny } from '../fleet/times.ts'

/** A boot as the API tells of it. `now` in ms since the epoch: one that goes on has lasted until then. */
export function bootSummary(attempt: BootAttempt, now: number): BootSummary {
  const { decision, endedAt, startedAt, transfer, diagnosis } = attempt
  return {
    id: attempt.id,
    bootId: attempt.bootIds.at(-1),
    host: attempt.host,
    mac: attempt.mac,
    otherMacs: attempt.otherMacs,
    address: attempt.address,
    arch: attempt.arch,
    firmware: attempt.firmware,
    state: attempt.state,
    outcome: attempt.outcome,
    phase: attempt.phase,
    step: attempt.steps.at(-1)?.text ?? '',
    startedAt: iso(startedAt),
    lastAt: iso(attempt.lastAt),
    endedAt: isoIfAny(endedAt),
    durationMs: Math.max(0, (endedAt ?? now) - startedAt),
    decision: decision?.kind,
    reason: decision?.reasons[0] && reasonText(decision.reasons[0]),
    bootimage: decision?.bootimage,
    release: releaseOf(attempt),
    osVersion: attempt.osVersion,
    transfer: transfer && transferSummary(transfer),
    diagnosis: diagnosis && diagnosisSummary(diagnosis),
  }
}

/** The same with every step. */
export function bootDetail(attempt: BootAttempt, now: number): BootDetail {
  const { startedAt } = attempt
  return {
    ...bootSummary(attempt, now),
    bootIds: [...attempt.bootIds],
    uuid: attempt.uuid,
    serial: attempt.serial,
    loader: attempt.loader,
    reasons: (attempt.decision?.reasons ?? []).map((reason) => ({
      code: reason.code,
      text: reasonText(reason),
    })),
    phases: attempt.phases.map((span) => ({
      phase: span.phase,
      startedAt: iso(span.startedAt),
      endedAt: isoIfAny(span.endedAt),
      durationMs: Math.max(0, (span.endedAt ?? now) - span.startedAt),
      limitMs: span.limitMs,
    })),
    steps: attempt.steps.map((step) => ({
      at: iso(step.at),
      lastAt: iso(step.lastAt),
      count: step.count,
      offsetMs: Math.max(0, step.at - startedAt),
      phase: step.phase,
      type: step.type,
      text: step.text,
      tone: step.tone,
    })),
    leftOut: attempt.leftOut,
  }
}

/** Of the bootimage that it was sent, else what it says it runs. */
export function releaseOf({
  decision,
  osVersion,
}: {
  readonly decision?: Pick<NonNullable<BootAttempt['decision']>, 'bootimage'>
  readonly osVersion?: string
}): string | undefined {
  return decision?.bootimage?.split('/')[2] ?? osVersion
}

export function transferSummary(transfer: TransferProgress): BootTransfer {
  const { role, name, sentBytes, totalBytes, bytesPerSecond, isDone } = transfer
  const share = totalBytes > 0 ? Math.min(1, Math.max(0, sentBytes / totalBytes)) : Number(isDone)
  return { role, name, sentBytes, totalBytes, percent: Math.floor(share * 100), bytesPerSecond, isDone }
}

export function diagnosisSummary({ code, text, remedy, at }: Diagnosis): DiagnosisSummary {
  return { code, text, remedy, at: iso(at) }
}
