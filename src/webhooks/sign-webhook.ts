import { createHmac } from 'node:crypto'
import { base64Key } from '../core/webhook.ts'

export interface SignedMessage {
  /** Of the message: the same in each try, so that a receiver knows one that came twice. */
  readonly id: string
  readonly body: string
}

/**
 * The headers of one try, as Standard Webhooks 1.0 has them: `v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>`.
 * @param now of this try, ms since the epoch: receivers refuse what is old
 */
export function signWebhook(
  { id, body }: SignedMessage,
  secret: string,
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000))
  const encoded = base64Key(secret)
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
