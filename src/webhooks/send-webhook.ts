import { lookup } from 'node:dns'
import type { Clock } from '../core/clock.ts'
import { traceHeaders } from '../core/trace-context.ts'
import type { Webhook } from '../core/webhook.ts'
import { webhookAddressRefusal } from '../upstream/address-rules.ts'
import type { UpstreamOptions } from '../upstream/client.ts'
import { createDispatchers } from '../upstream/dispatchers.ts'
import { guardedLookup, type Resolver } from '../upstream/guarded-lookup.ts'
import { upstreamError } from '../upstream/upstream-error.ts'
import type { WebhookAnswer } from './judge-answer.ts'
import { signWebhook } from './sign-webhook.ts'
import { shortReason } from './webhook-body.ts'
import type { WebhookMessage } from './webhook-queue.ts'

export interface WebhookSender {
  /** One try; never rejects. Its answer is looked at for its status alone. */
  send(webhook: Webhook, message: WebhookMessage, signal: AbortSignal): Promise<WebhookAnswer>
  close(): Promise<void>
}

export interface WebhookSenderOptions {
  /** The proxy and certificates that count for all requests to the outside. */
  readonly upstream: Pick<UpstreamOptions, 'proxy' | 'noProxy' | 'ca'>
  readonly userAgent: string
  readonly clock: Clock
  /** 16 hex digits: names one request in its trace. */
  readonly newSpanId: () => string
  readonly resolve?: Resolver
  /** For a whole try. */
  readonly timeoutMs?: number
}

const usualTimeoutMs = 10_000
/** As much of an answer is read as lets the connection be used again; nothing of it is looked at. */
const mostAnswerBytes = 16 * 1024

/**
 * Speaks with receivers. An admin wrote their URLs, so they may be in any network, this machine included; addresses that
 * stand for no service of anybody's, such as the metadata service of a cloud, are refused as they are connected to
 * (field case 163). Redirects are not followed.
 */
export function createWebhookSender({
  upstream,
  userAgent,
  clock,
  newSpanId,
  resolve = lookup,
  timeoutMs = usualTimeoutMs,
}: WebhookSenderOptions): WebhookSender {
  const dispatchers = createDispatchers(upstream, guardedLookup(resolve, webhookAddressRefusal))

  async function post({ url: target, secret }: Webhook, message: WebhookMessage, signal: AbortSignal) {
    const url = new URL(target)
    const { id, body, trace } = message
    const refusal = webhookAddressRefusal(url.hostname)
    if (refusal !== undefined)
      return { kind: 'failed', why: `${url.hostname} is a ${refusal} address` } as const
    const {
      statusCode,
      headers,
      body: answer,
    } = await dispatchers.routeTo(url, false).dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...signWebhook({ id, body }, secret, clock.now()),
        ...(trace !== undefined && traceHeaders(trace, newSpanId())),
      },
      body,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal,
    })
    // What it says besides its status nobody waits for, and a connection that breaks meanwhile is no failure.
    answer.on('error', () => {})
    void answer.dump({ limit: mostAnswerBytes, signal }).catch(() => {})
    const retryAfter = [headers['retry-after']].flat()[0]
    return { kind: 'status', status: statusCode, ...(retryAfter !== undefined && { retryAfter }) } as const
  }

  return {
    async send(webhook, message, signal) {
      const attempt = limitedAttempt(signal, timeoutMs)
      try {
        return await post(webhook, message, attempt.signal)
      } catch (error) {
        if (attempt.isLate()) return { kind: 'failed', why: `no answer within ${timeoutMs / 1000} s` }
        return { kind: 'failed', why: shortReason(reasonOf(error, webhook.url)) }
      }
    },
    close: () => dispatchers.close(),
  }
}

/**
 * A signal for one try: aborts with its owner's, or after the time. Made by hand, because signals that depend on one
 * that lives as long as the service are kept by it.
 */
function limitedAttempt(owner: AbortSignal, timeoutMs: number) {
  const attempt = new AbortController()
  let isLate = false
  const stop = () => attempt.abort()
  const timer = setTimeout(() => {
    isLate = true
    owner.removeEventListener('abort', stop)
    stop()
  }, timeoutMs)
  timer.unref()
  owner.addEventListener('abort', stop, { once: true })
  if (owner.aborted) stop()
  return { signal: attempt.signal, isLate: () => isLate }
}

/** Its own words, without the URL, which may hold a secret. */
function reasonOf(error: unknown, url: string): string {
  const { details } = upstreamError('telling', new URL(url), error)
  return typeof details.why === 'string' ? details.why : 'it could not be reached'
}
