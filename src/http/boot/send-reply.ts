import { type Exchange, writeHead } from './exchange.ts'
import { checkPreconditions } from './preconditions.ts'
import { type ContentReply, textReply } from './reply.ts'

/** Sends a body that is in memory. */
export function sendContent(exchange: Exchange, reply: ContentReply): void {
  const { etag, body } = reply
  if (etag !== undefined) {
    const verdict = checkPreconditions(conditionsOf(exchange), { etag })
    if (verdict === 'not-modified') {
      sendNotModified(exchange, [...reply.headers, ['ETag', etag]])
      return
    }
    if (verdict === 'failed') {
      sendContent(exchange, preconditionFailed())
      return
    }
  }
  writeHead(exchange, reply.status, [
    ['Content-Type', reply.contentType],
    ['Content-Length', String(Buffer.byteLength(body))],
    ...reply.headers,
    ...(etag === undefined ? [] : [['ETag', etag] as const]),
  ])
  if (exchange.isHead) exchange.response.end()
  else exchange.response.end(body)
}

/** The one 3xx on the boot listener; only who sent If-None-Match can get it. */
export function sendNotModified(exchange: Exchange, lines: ContentReply['headers']): void {
  writeHead(exchange, 304, lines)
  exchange.response.end()
}

export function preconditionFailed(): ContentReply {
  return textReply(412, 'The file is not the one that you began with. Start again without If-Match.')
}

export function conditionsOf({ request }: Exchange) {
  const { headers } = request
  return {
    ifMatch: headers['if-match'],
    ifUnmodifiedSince: headers['if-unmodified-since'],
    ifNoneMatch: headers['if-none-match'],
  }
}
