import type { RequestTrace } from './trace-context.ts'

/** What a webhook can be told of. */
export const webhookEventTypes = [
  'boot.over',
  'boot.stuck',
  'stream.changed',
  'stream.held',
  'stream.failing',
  'install.done',
  'install.failed',
  'change.made',
] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]

/** Somewhere that an admin wants to be told, as the configuration says. */
export interface Webhook {
  readonly name: string
  readonly url: string
  /** As its file says, without blanks around it. Never shown. */
  readonly secret: string
  readonly events: readonly WebhookEventType[]
}

/** Something that webhooks are told. */
export interface WebhookEvent {
  readonly type: WebhookEventType | 'test'
  /** Ms since the epoch. */
  readonly at: number
  readonly data: object
  /** Of the boot, or of the request that caused it. */
  readonly trace?: RequestTrace
}

const secretPrefix = 'whsec_'
const leastSecretLength = 16
const leastKeyBytes = 16

/**
 * Why a text is no secret to sign with; the rest of a sentence that begins with its file. After `whsec_` the key stands
 * in base64 (Standard Webhooks), else the text itself is the key.
 */
export function webhookSecretProblem(text: string): string | undefined {
  const secret = text.trim()
  if (secret === '') return 'is empty'
  if (/\s/.test(secret)) return 'holds more than one line or word'
  if (!secret.startsWith(secretPrefix)) {
    return secret.length < leastSecretLength ? `holds fewer than ${leastSecretLength} characters` : undefined
  }
  const key = secret.slice(secretPrefix.length)
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) return `holds no base64 after ${secretPrefix}`
  const bytes = Math.floor((key.replace(/=+$/, '').length * 3) / 4)
  return bytes < leastKeyBytes ? `holds a key of fewer than ${leastKeyBytes} bytes` : undefined
}

/** The base64 of a key that is written so; `undefined` when the secret is the key. */
export function base64Key(secret: string): string | undefined {
  return secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : undefined
}
