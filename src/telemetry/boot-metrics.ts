import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import {
  type AttemptState,
  attemptOutcomes,
  attemptStates,
  type BootAttempt,
  bootPhases,
} from '../core/boot-attempt.ts'
import type { BootEvent } from '../core/boot-event.ts'
import { type BootPatternCode, bootPatternCodes } from '../core/boot-pattern.ts'
import { decidingReasons } from '../core/deciding-reasons.ts'

/** Boots in each state at one moment. */
export type AttemptCounts = Readonly<Record<AttemptState, number>>

export interface BootMetrics {
  onBootEvent(event: BootEvent): void
  /** Once for each boot attempt. */
  onAttemptOver(attempt: Pick<BootAttempt, 'outcome' | 'phases'>): void
  /** Once for each boot attempt and pattern. */
  onDiagnosis(pattern: BootPatternCode): void
  /** How many attempts are in which state, asked for by each scrape. */
  observeAttempts(counts: () => AttemptCounts): void
}

const stepNames = {
  'dhcp-answered': 'dhcp',
  'tftp-ended': 'tftp',
  'entry-sent': 'entry',
  decided: 'decision',
  'artifact-sent': 'artifact',
  'ignition-sent': 'ignition',
  reported: 'report',
} as const satisfies Partial<Record<BootEvent['type'], string>>
const sentRoles = ['kernel', 'initramfs', 'rootfs', 'disk', 'other'] as const

/** Series of boots: what was decided, what was sent, how far they came, how long it took, how they ended. */
export function createBootMetrics(registry: Registry): BootMetrics {
  const registers = [registry]

  const decisions = new Counter({
    name: 'pilotlight_boot_decisions_total',
    help: 'Boot decisions by kind and by the reason that decided.',
    labelNames: ['kind', 'reason'],
    registers,
  })
  for (const [kind, reasons] of Object.entries(decidingReasons)) {
    for (const reason of reasons) decisions.inc({ kind, reason }, 0)
  }

  const sentBytes = new Counter({
    name: 'pilotlight_artifact_sent_bytes_total',
    help: 'Bytes of artifacts sent to nodes.',
    labelNames: ['role'],
    registers,
  })
  for (const role of sentRoles) sentBytes.inc({ role }, 0)

  // Plain numbers until a scrape asks: a labelled counter costs as much as an answer of DHCP.
  const steps: Partial<Record<BootEvent['type'], number>> = {}
  new Counter({
    name: 'pilotlight_boot_steps_total',
    help: 'Steps of boots; where the numbers fall from one step to the next, machines get stuck.',
    labelNames: ['step'],
    registers,
    collect() {
      this.reset()
      for (const [type, step] of Object.entries(stepNames)) {
        this.inc({ step }, steps[type as BootEvent['type']] ?? 0)
      }
    },
  })

  const attempts = new Counter({
    name: 'pilotlight_boot_attempts_total',
    help: 'Boot attempts that are over, by their outcome.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of attemptOutcomes) attempts.inc({ outcome }, 0)

  const diagnoses = new Counter({
    name: 'pilotlight_boot_diagnoses_total',
    help: 'Boot attempts that showed a known pattern of failure; see pilotlight patterns.',
    labelNames: ['pattern'],
    registers,
  })
  for (const pattern of bootPatternCodes) diagnoses.inc({ pattern }, 0)

  const phases = new Histogram({
    name: 'pilotlight_boot_phase_duration_seconds',
    help: 'How long the phases of boot attempts took that are over; phases that never ended are not in it.',
    labelNames: ['phase'],
    // A script takes milliseconds, firmware and a rootfs over a slow link minutes, an install an hour.
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1800, 7200],
    registers,
  })
  for (const phase of bootPhases) phases.zero({ phase })

  return {
    onBootEvent(event) {
      steps[event.type] = (steps[event.type] ?? 0) + 1
      if (event.type === 'decided') {
        decisions.inc({ kind: event.kind, reason: event.reason })
      } else if (event.type === 'artifact-sent' && event.method === 'GET') {
        const role = sentRoles.find((known) => known === event.role) ?? 'other'
        sentBytes.inc({ role }, event.sentBytes)
      }
    },
    onAttemptOver({ outcome, phases: spans }) {
      if (outcome !== undefined) attempts.inc({ outcome })
      for (const { phase, startedAt, endedAt } of spans) {
        if (endedAt !== undefined) phases.observe({ phase }, Math.max(0, endedAt - startedAt) / 1000)
      }
    },
    onDiagnosis(pattern) {
      diagnoses.inc({ pattern })
    },
    observeAttempts(counts) {
      new Gauge({
        name: 'pilotlight_boot_attempts',
        help: 'Boot attempts that are known to the running service, by their state.',
        labelNames: ['state'],
        registers,
        collect() {
          const now = counts()
          for (const state of attemptStates) this.set({ state }, now[state])
        },
      })
    },
  }
}
