import { randomBytes } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import type { BootAttempt, Diagnosis } from '../../core/boot-attempt.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import type { AuditEntry } from '../../core/fleet.ts'
import type { Log } from '../../core/log.ts'
import { type RequestTrace, traceIdOfBoot } from '../../core/trace-context.ts'
import type { StreamSummary } from '../../http/admin/operations.ts'
import { createWebhookSender, type WebhookSender } from '../../webhooks/send-webhook.ts'
import type { WebhookOutcome } from '../../webhooks/webhook-queue.ts'
import { createWebhooks, type Webhooks } from '../../webhooks/webhooks.ts'
import { changeEvent } from '../fleet/change-event.ts'
import { bootSummary } from '../timeline/boot-summary.ts'
import { streamNews } from './stream-news.ts'

/** Receivers of a running service, and what each part of it tells them. */
export interface StartedWebhooks extends Pick<Webhooks, 'list' | 'test'> {
  configure(config: Pick<Config, 'webhooks' | 'upstream'>): void
  /** The configuration was read again, even if nothing in it changed: who wanted no more gets another chance. */
  retryGone(): void
  onOver(attempt: BootAttempt): void
  onDiagnosis(attempt: BootAttempt, diagnosis: Diagnosis): void
  onStream(before: StreamSummary | undefined, now: StreamSummary): void
  /** Changes that are on disk and in force. */
  onChanged(audit: readonly AuditEntry[]): void
  stop(): Promise<void>
}

export interface StartWebhooksOptions {
  readonly version: string
  /** The trace of whatever is being done. */
  readonly currentTrace: () => RequestTrace | undefined
  readonly onOutcome: (outcome: WebhookOutcome) => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

export function startWebhooks({
  version,
  currentTrace,
  onOutcome,
  clock,
  timers,
  log,
}: StartWebhooksOptions): StartedWebhooks {
  let sender: WebhookSender | undefined
  let senderKey = ''
  let configured: Config['webhooks'] = []
  const webhooks = createWebhooks({
    async send(webhook, message, signal) {
      if (sender === undefined) return { kind: 'failed', why: 'the service is not configured yet' }
      return sender.send(webhook, message, signal)
    },
    newId: () => `msg_${randomBytes(16).toString('base64url')}`,
    onOutcome,
    clock,
    timers,
    random: Math.random,
    log,
  })

  /** A proxy or an authority of its own counts for webhooks too, and may change. */
  function renewSender(upstream: Config['upstream']): void {
    const { proxy, noProxy, ca } = upstream
    const key = JSON.stringify([proxy, noProxy, ca])
    if (sender !== undefined && key === senderKey) return
    void sender?.close()
    senderKey = key
    sender = createWebhookSender({
      upstream: {
        ...(proxy !== undefined && { proxy }),
        ...(noProxy !== undefined && { noProxy }),
        ...(ca !== undefined && { ca }),
      },
      userAgent: `pilotlight/${version}`,
      clock,
      newSpanId: () => randomBytes(8).toString('hex'),
    })
  }

  return {
    list: webhooks.list,
    test: webhooks.test,
    configure({ webhooks: wanted, upstream }) {
      renewSender(upstream)
      configured = wanted
      webhooks.configure(wanted)
    },
    retryGone: () => webhooks.configure(configured),
    onOver(attempt) {
      webhooks.tell('boot.over', () => bootNews(attempt, clock.now()))
    },
    onDiagnosis(attempt, diagnosis) {
      webhooks.tell('boot.stuck', () => bootNews({ ...attempt, diagnosis }, clock.now()))
    },
    onStream(before, now) {
      for (const { type, data } of streamNews(before, now)) {
        webhooks.tell(type, () => ({ at: clock.now(), data }))
      }
    },
    onChanged(audit) {
      const trace = currentTrace()
      for (const entry of audit) {
        const { at, action } = entry
        const news = () => ({ at, data: changeEvent(entry), ...(trace !== undefined && { trace }) })
        webhooks.tell('change.made', news)
        if (action === 'install.done' || action === 'install.failed') webhooks.tell(action, news)
      }
    },
    async stop() {
      webhooks.stop()
      await sender?.close()
    },
  }
}

function bootNews(attempt: BootAttempt, now: number) {
  const trace = traceOf(attempt)
  return { at: now, data: bootSummary(attempt, now), ...(trace !== undefined && { trace }) }
}

/** Of its last decision; a boot that never came to one has none. */
function traceOf({ bootIds }: BootAttempt): RequestTrace | undefined {
  const bootId = bootIds.at(-1)
  return bootId === undefined ? undefined : { traceId: traceIdOfBoot(bootId), isSampled: true }
}
