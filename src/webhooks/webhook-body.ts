import { visibleText } from '../core/visible-text.ts'
import type { WebhookEvent } from '../core/webhook.ts'

/** Raised when what receivers read changes so that they must know; what is only added raises nothing. */
const bodyVersion = 1

/** What is sent, as JSON. */
export function webhookBody({ type, at, data }: WebhookEvent): string {
  return JSON.stringify({ version: bodyVersion, type, timestamp: new Date(at).toISOString(), data })
}

/** Why a try failed, in a few words without anything that a URL could hold. */
export function shortReason(text: string): string {
  return visibleText(text, 200)
}
