import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * What came of a message to a webhook. `retried`: a try failed and another comes; `rejected`: the receiver will not
 * have it; `expired`: it was tried for as long as it counts; `dropped`: too many waited before it.
 */
export const webhookOutcomes = ['delivered', 'retried', 'rejected', 'expired', 'dropped'] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]

/** One part of the service, as `/readyz` tells of it. */
export interface PartFigures {
  readonly part: string
  readonly ready: boolean
  /** Why it is not ready, or what is wrong with it all the same. */
  readonly reason?: string
}

export interface ServiceMetrics {
  onWebhook(outcome: WebhookOutcome): void
  /** Streams of events that are open, asked for by each scrape. */
  observeEventStreams(count: () => number): void
  /** The parts of the service, asked for by each scrape. */
  observeParts(parts: () => readonly PartFigures[]): void
}

/** Series of the service itself and of those who follow it. */
export function createServiceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry]
  const webhooks = new Counter({
    name: 'pilotlight_webhook_deliveries_total',
    help: 'Messages to webhooks by what came of them; retried: a try that failed and is made again.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of webhookOutcomes) webhooks.inc({ outcome }, 0)

  return {
    onWebhook(outcome) {
      webhooks.inc({ outcome })
    },
    observeEventStreams(count) {
      new Gauge({
        name: 'pilotlight_event_streams',
        help: 'Streams of events that are open: the page, the API and commands that follow.',
        registers,
        collect() {
          this.set(count())
        },
      })
    },
    observeParts(parts) {
      partGauge('pilotlight_part_ready', '1: this part of the service is ready.', ({ ready }) => ready)
      partGauge(
        'pilotlight_part_troubled',
        '1: this part works, and something is wrong with it; /readyz says what.',
        ({ ready, reason }) => ready && reason !== undefined,
      )

      function partGauge(name: string, help: string, holds: (part: PartFigures) => boolean): void {
        new Gauge({
          name,
          help,
          labelNames: ['part'],
          registers,
          collect() {
            this.reset()
            for (const part of parts()) this.set({ part: part.part }, holds(part) ? 1 : 0)
          },
        })
      }
    },
  }
}
