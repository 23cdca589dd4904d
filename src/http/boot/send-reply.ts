import { type Exchange, writeHead } from './exchange.ts'
import { checkPreconditions } from './preconditions.ts'
import { type ContentReply, textReply } from './reply.ts'

/** Sends a body that is in memory. */
export function sendContent(exchange: Exchange, reply: ContentReply): void {
  const { etag, body } = reply
  const sizeBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  if (etag !== undefined) {
    const verdict = checkPreconditions(conditionsOf(exchange), { etag })
    if (verdict === 'not-modified') {
      sendNotModified(exchange, [...reply.headers, 'ETag', etag])
      return
    }
    if (verdict === 'failed') {
      sendContent(exchange, preconditionFailed())
      return
    }
  }
  const lines = ['Content-Type', reply.contentType, 'Content-Length', String(sizeBytes), ...reply.headers]
  if (etag !== undefined) lines.push('ETag', etag)
  writeHead(exchange, reply.status, lines)
  if (exchange.isHead) exchange.response.end()
  else if (typeof body !== 'string') exchange.response.end(body)
  // Text leaves in one piece with its head; ASCII, as scripts are, at half the cost of text that must be encoded.
  else exchange.response.end(body, sizeBytes === body.length ? 'latin1' : 'utf8')
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
