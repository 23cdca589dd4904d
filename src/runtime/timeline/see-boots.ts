import { createTimeline } from '../../boot/timeline/create-timeline.ts'
import type { BootAttempt, Diagnosis } from '../../core/boot-attempt.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { MacAddress } from '../../core/mac.ts'
import type { PublishEvent } from '../../core/service-event.ts'
import type { BootLog } from '../../telemetry/boot-log.ts'
import type { Metrics } from '../../telemetry/create-metrics.ts'
import type { Engine } from '../engine.ts'
import { type BootViews, createBootViews } from './boot-views.ts'
import { isOwnLook } from './own-look.ts'
import { type RunningTimeline, startTimeline } from './start-timeline.ts'

/**
 * Sees every boot of a running service, and tells of it: to log, figures, feed and whoever asks.
 * @throws ServiceError STATE_UNAVAILABLE
 */
export async function seeBoots(options: {
  readonly engine: Engine
  readonly publish: PublishEvent
  readonly metrics: Pick<Metrics, 'onAttemptOver' | 'onDiagnosis' | 'observeAttempts'>
  readonly bootLog: Pick<BootLog, 'onOver' | 'onDiagnosis'>
  /** A boot is over; a boot shows what is wrong with it. Each once. */
  readonly onOver?: (attempt: BootAttempt) => void
  readonly onDiagnosis?: (attempt: BootAttempt, diagnosis: Diagnosis) => void
  readonly strangerSeenAt: (mac: MacAddress) => number | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}): Promise<Pick<RunningTimeline, 'note' | 'stop'> & { readonly views: BootViews }> {
  const { engine, publish, metrics, bootLog, strangerSeenAt, clock, timers, log } = options
  const running = await startTimeline({
    create: (listeners) => createTimeline({ clock, random: Math.random, listeners }),
    store: engine.storage.store,
    keepMs: () => engine.loaded().config.retention.bootsMs,
    publish,
    onOver(attempt) {
      if (isOwnLook(attempt)) return
      metrics.onAttemptOver(attempt)
      bootLog.onOver(attempt)
      options.onOver?.(attempt)
    },
    onDiagnosis(attempt, diagnosis) {
      metrics.onDiagnosis(diagnosis.code)
      bootLog.onDiagnosis(attempt, diagnosis)
      options.onDiagnosis?.(attempt, diagnosis)
    },
    clock,
    timers,
    log,
  })
  metrics.observeAttempts(running.machines.counts)
  const { timeline, machines, memory, note, stop } = running
  return { views: createBootViews({ engine, timeline, machines, memory, strangerSeenAt, clock }), note, stop }
}
