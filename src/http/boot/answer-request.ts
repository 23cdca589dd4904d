import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { visibleText } from '../../core/visible-text.ts'
import { baseUrl, type UrlAddress } from './base-url.ts'
import type { BootSources } from './boot-request.ts'
import type { Connection } from './connections.ts'
import type { Exchange } from './exchange.ts'
import type { LogLimiter } from './log-limiter.ts'
import { notFound, textReply } from './reply.ts'
import { parseRequestTarget } from './request-target.ts'
import { matchRoute } from './routes.ts'
import { type FileReplyParts, sendFileReply } from './send-file-reply.ts'
import { sendContent } from './send-reply.ts'

/** Request bodies mean nothing here; a small one is read and dropped, a larger one ends the connection. */
const maxDroppedBodyBytes = 64 * 1024

export interface RequestAnswererParts {
  readonly sources: BootSources
  readonly fileParts: FileReplyParts
  /** What an admin configured for URLs. */
  readonly urls: UrlAddress
  readonly misses: LogLimiter
  isClosing(): boolean
  /** Seconds that have passed since some moment; only differences count. */
  monotonicSeconds(): number
  /** `route` is the pattern, or absent when none matched. */
  onRequest(route: string | undefined, method: string, status: number, seconds: number): void
}

export type AnswerRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
) => Promise<void>

/** Bytes → request → ask → answer → bytes, for every request of the listener. Never rejects. */
export function createRequestAnswerer(parts: RequestAnswererParts): AnswerRequest {
  const { sources, fileParts, urls, misses } = parts
  const { log } = sources

  async function answer(exchange: Exchange): Promise<string | undefined> {
    const { request, connection } = exchange
    const target = parseRequestTarget(request.url ?? '')
    if (target.kind === 'refused') {
      sendContent(exchange, textReply(target.status, `This request is refused: ${target.reason}.`))
      return undefined
    }
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') {
      sendContent(
        exchange,
        textReply(405, 'Only GET and HEAD are answered here. The admin listener takes changes.', [
          ['Allow', 'GET, HEAD'],
        ]),
      )
      return undefined
    }
    const match = matchRoute(target.segments)
    if (match === undefined) {
      sendContent(
        exchange,
        notFound(
          'Nothing has this name here. A machine starts with /boot.ipxe; /streams/<stream>.json lists files.',
        ),
      )
      return undefined
    }
    const { localAddress = '', localPort = 0 } = request.socket
    const reply = await match.route.answer(
      {
        method,
        params: match.params,
        query: target.query,
        baseUrl: baseUrl(urls, { localAddress, localPort }),
        address: connection.address,
      },
      sources,
    )
    if (reply.kind === 'content') sendContent(exchange, reply)
    else await sendFileReply(exchange, reply, fileParts)
    return match.route.pattern
  }

  return async function answerRequest(request, response, connection) {
    const startedAt = parts.monotonicSeconds()
    const isLast = parts.isClosing() || dropBody(request)
    const exchange: Exchange = {
      request,
      response,
      connection,
      isHead: request.method === 'HEAD',
      isLast,
      status: 0,
    }
    let route: string | undefined
    try {
      route = await answer(exchange)
    } catch (error) {
      log.error({ err: error, path: pathForLog(request) }, 'boot request failed')
      if (response.headersSent) response.destroy()
      else sendContent(exchange, textReply(500, 'The service failed on this request; its log says more.'))
    }
    logMiss(exchange)
    parts.onRequest(route, request.method ?? '', exchange.status, parts.monotonicSeconds() - startedAt)
    if (parts.isClosing() && !isLast) (request.socket as Socket).destroySoon()
  }

  /** A name that is not here, once a minute for each client: optional probes are normal (field cases 84, 165). */
  function logMiss({ request, status, connection: { address } }: Exchange): void {
    if (status !== 404 && status !== 400) return
    const path = pathForLog(request)
    if (!misses.allows(`${address} ${path}`)) return
    log.info({ address, path, status }, 'boot request for nothing that is here')
  }
}

/** The path of a request as it can be shown: without its query, whose values belong to machines. */
function pathForLog({ url = '' }: IncomingMessage): string {
  return visibleText(url.split('?', 1)[0] ?? '', 200)
}

/** Reads and drops a body. `true`: it is too large to wait for, so the connection must end with the answer. */
function dropBody(request: IncomingMessage): boolean {
  const length = Number(request.headers['content-length'] ?? 0)
  const isChunked = request.headers['transfer-encoding'] !== undefined
  if (length === 0 && !isChunked) return false
  request.resume()
  return isChunked || length > maxDroppedBodyBytes
}
