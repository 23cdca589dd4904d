/** What a receiver said, or why nothing was heard of it. */
export type WebhookAnswer =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'failed'; readonly why: string }

/** What comes of it. */
export type WebhookVerdict =
  | { readonly kind: 'delivered' }
  /** Something is wrong that may pass; `waitMs`: not before. */
  | { readonly kind: 'later'; readonly why: string; readonly waitMs?: number }
  /** It will not have this message, however often it is sent. */
  | { readonly kind: 'rejected'; readonly why: string }
  /** It wants none any more. */
  | { readonly kind: 'gone' }

/**
 * 2xx is delivered. 5xx, 429 and silence may pass, 410 is for good, any other status is the receiver's last word on
 * this message; a redirect is one too, because what is signed for one address is not carried to another.
 */
export function judgeAnswer(answer: WebhookAnswer, now: number): WebhookVerdict {
  if (answer.kind === 'failed') return { kind: 'later', why: answer.why }
  const { status, retryAfter } = answer
  const why = `status ${status}`
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone' }
  if (status < 500 && status !== 429) return { kind: 'rejected', why }
  const waitMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, now)
  return { kind: 'later', why, ...(waitMs !== undefined && { waitMs }) }
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(text: string, now: number): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  // What begins with a day of the week is a date; the rest that Date understands is nothing that was meant as one.
  const date = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
