import type { Clock, Timers } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Webhook, WebhookEvent } from '../core/webhook.ts'
import { judgeAnswer, type WebhookAnswer } from './judge-answer.ts'
import { webhookBody } from './webhook-body.ts'
import {
  createWebhookQueue,
  type WebhookMessage,
  type WebhookOutcome,
  type WebhookQueue,
  type WebhookState,
} from './webhook-queue.ts'

/** Everybody whom an admin wants to be told, each with a queue of his own, so that none waits for another. */
export interface Webhooks {
  /** Takes a new configuration. What waits for a webhook that stays as it was goes on to wait. */
  configure(webhooks: readonly Webhook[]): void
  /** Puts it into the queue of each that wants it; costs nothing when none does. */
  tell(type: WebhookEvent['type'], make: () => Omit<WebhookEvent, 'type'>): void
  /**
   * Sends one message at once, past the queue, and tells what came of it.
   * @throws ServiceError NOT_FOUND
   */
  test(name: string): Promise<WebhookAnswer & { readonly isDelivered: boolean }>
  list(): readonly (WebhookState & Pick<Webhook, 'name' | 'events'>)[]
  /** Gives up what is under way; what waits is lost. */
  stop(): void
}

export interface WebhooksOptions {
  /** One try. Never rejects. */
  readonly send: (webhook: Webhook, message: WebhookMessage, signal: AbortSignal) => Promise<WebhookAnswer>
  /** Unguessable: names a message. */
  readonly newId: () => string
  readonly onOutcome: (outcome: WebhookOutcome) => void
  readonly clock: Clock
  readonly timers: Timers
  readonly random: () => number
  readonly log: Log
}

interface Member {
  readonly webhook: Webhook
  readonly queue: WebhookQueue
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { send, newId, clock } = options
  const stopped = new AbortController()
  let members: readonly Member[] = []

  function messageOf(event: WebhookEvent): WebhookMessage {
    const { type, at, trace } = event
    return { id: newId(), type, at, body: webhookBody(event), ...(trace !== undefined && { trace }) }
  }

  return {
    configure(webhooks) {
      const before = members
      members = webhooks.map((webhook) => {
        const same = before.find((member) => isSame(member.webhook, webhook))
        // A reload gives one that wanted no more another chance.
        if (same === undefined || same.queue.state().state === 'gone') {
          return { webhook, queue: createWebhookQueue({ ...options, webhook }) }
        }
        return { webhook, queue: same.queue }
      })
      const queues = new Set(members.map(({ queue }) => queue))
      for (const { queue } of before) if (!queues.has(queue)) queue.stop()
    },
    tell(type, make) {
      const wanting = members.filter(({ webhook }) => webhook.events.some((wanted) => wanted === type))
      if (wanting.length === 0) return
      const message = messageOf({ type, ...make() })
      for (const { queue } of wanting) queue.push(message)
    },
    async test(name) {
      const member = members.find(({ webhook }) => webhook.name === name)
      if (member === undefined) throw noSuchWebhook(name, members)
      const message = messageOf({ type: 'test', at: clock.now(), data: { webhook: name } })
      const answer = await send(member.webhook, message, stopped.signal)
      return { ...answer, isDelivered: judgeAnswer(answer, clock.now()).kind === 'delivered' }
    },
    list: () => members.map(({ webhook: { name, events }, queue }) => ({ name, events, ...queue.state() })),
    stop() {
      stopped.abort()
      for (const { queue } of members) queue.stop()
    },
  }
}

/** What it is told may change; to whom, and how it is signed, makes it another one. */
function isSame(a: Webhook, b: Webhook): boolean {
  return a.name === b.name && a.url === b.url && a.secret === b.secret
}

function noSuchWebhook(name: string, members: readonly Member[]): ServiceError {
  const names = members.map(({ webhook }) => webhook.name)
  return new ServiceError('NOT_FOUND', `there is no webhook ${JSON.stringify(name)}`, {
    field: 'name',
    hint:
      names.length === 0 ? 'the configuration has no webhooks' : `webhooks: ${names.slice(0, 10).join(', ')}`,
  })
}
