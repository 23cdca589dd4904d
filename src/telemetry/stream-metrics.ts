import { Counter, Gauge, type Registry } from 'prom-client'
import { type ChangeClass, changeClasses, hasPolicy } from '../core/change.ts'
import type { Clock } from '../core/clock.ts'

/** How a stream is doing, as far as a monitoring system wants to know. */
export interface StreamFigures {
  /** Ms since the epoch of the last refresh that worked. */
  readonly lastSuccessAt?: number
  /** Architectures with a change that waits for an admin. */
  readonly held?: number
  /** Architectures whose wanted bootimage could not be fetched or verified. */
  readonly failed?: number
}

export interface StreamMetrics {
  /** A refresh brought what was not followed: a change that is held or waits, or a part that cannot be used. */
  onRefused(change: ChangeClass): void
  setStream(stream: string, figures: StreamFigures): void
  /** For a stream that the configuration no longer has. */
  forgetStream(stream: string): void
}

function mayBeRefused(change: ChangeClass): boolean {
  return hasPolicy(change) || change === 'withdrawn' || change === 'partial'
}

/** Series of streams. Their names are the admin's own, so there are only so many. */
export function createStreamMetrics(registry: Registry, clock: Clock): StreamMetrics {
  const registers = [registry]
  const streams = new Map<string, StreamFigures>()
  const knownSince = new Map<string, number>()

  const refused = new Counter({
    name: 'pilotlight_stream_refused_total',
    help: 'What refreshes brought and was not followed, for each architecture, by the class of the change.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of changeClasses) if (mayBeRefused(reason)) refused.inc({ reason }, 0)

  function gauge(name: string, help: string, read: (figures: StreamFigures, stream: string) => number) {
    new Gauge({
      name,
      help,
      labelNames: ['stream'],
      registers,
      collect() {
        this.reset()
        for (const [stream, figures] of streams) this.set({ stream }, read(figures, stream))
      },
    })
  }

  gauge(
    'pilotlight_stream_refresh_timestamp_seconds',
    'When the metadata of the stream was last read successfully (Unix time); 0: never.',
    ({ lastSuccessAt = 0 }) => lastSuccessAt / 1000,
  )
  gauge(
    'pilotlight_stream_age_seconds',
    'Time since the metadata of the stream was last read successfully, or since it is followed without success.',
    ({ lastSuccessAt }, stream) => {
      const now = clock.now()
      return Math.max(0, now - (lastSuccessAt ?? knownSince.get(stream) ?? now)) / 1000
    },
  )
  gauge(
    'pilotlight_stream_held',
    'Architectures of the stream with a change that waits for an admin.',
    ({ held = 0 }) => held,
  )
  gauge(
    'pilotlight_stream_failed',
    'Architectures of the stream whose wanted bootimage could not be fetched or verified.',
    ({ failed = 0 }) => failed,
  )

  return {
    onRefused(change) {
      refused.inc({ reason: change })
    },
    setStream(stream, figures) {
      if (!knownSince.has(stream)) knownSince.set(stream, clock.now())
      streams.set(stream, figures)
    },
    forgetStream(stream) {
      streams.delete(stream)
      knownSince.delete(stream)
    },
  }
}
