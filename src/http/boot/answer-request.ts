import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TraceId } from '../../core/boot-event.ts'
import type { LineLimiter } from '../../core/line-limiter.ts'
import { isProbeTrace } from '../../core/probe-mark.ts'
import { parseTraceparent } from '../../core/trace-context.ts'
import type { BootSources } from './boot-request.ts'
import type { Connection } from './connections.ts'
import { counted } from './counted-line.ts'
import type { Exchange } from './exchange.ts'
import { pathForLog } from './path-for-log.ts'
import { readBody } from './read-body.ts'
import { notFound, type Reply, textReply } from './reply.ts'
import { parseRequestTarget } from './request-target.ts'
import { matchRoute } from './routes.ts'
import { type FileReplyParts, sendFileReply } from './send-file-reply.ts'
import { sendContent } from './send-reply.ts'

/** Bodies mean nothing but to a report; a small one is read and dropped, a larger one ends the connection. */
const maxDroppedBodyBytes = 64 * 1024

const methodNotAllowed = textReply(
  405,
  'Only GET and HEAD are answered here. Changes are made with the pilotlight command on this machine, over its control socket.',
  ['Allow', 'GET, HEAD'],
)
const onlyPost = textReply(405, 'Only POST is answered here: a machine reports how it fares.', [
  'Allow',
  'POST',
])
const nothingHere = notFound(
  'Nothing has this name here. There are /boot.ipxe, with which a machine begins, /ipxe, /grub/grub.cfg, /pxelinux.cfg/, /loaders/, /artifacts/ and /streams/<stream>.json. Health, metrics and the API are on the admin listener.',
)
const failed = textReply(500, 'The service failed on this request; its log says more.')

export interface RequestAnswererParts {
  readonly sources: BootSources
  readonly fileParts: FileReplyParts
  readonly misses: LineLimiter
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
) => void

/** Bytes → request → ask → answer → bytes, for every request of the listener. Never throws. */
export function createRequestAnswerer(parts: RequestAnswererParts): AnswerRequest {
  const { sources, fileParts, misses } = parts
  const quietFileParts: FileReplyParts = { ...fileParts, onEvent() {} }
  const { log } = sources

  function replyTo(exchange: Exchange): Reply | Promise<Reply> {
    const { request, connection } = exchange
    const target = parseRequestTarget(request.url ?? '')
    if (target.kind === 'refused') {
      return textReply(target.status, `This request is refused: ${target.reason}.`)
    }
    const { method } = request
    const match = matchRoute(target.segments)
    if (match?.route.method === 'POST') {
      if (method !== 'POST') return onlyPost
    } else if (method !== 'GET' && method !== 'HEAD') return methodNotAllowed
    if (match === undefined) return nothingHere
    exchange.route = match.route.pattern
    return match.route.answer(
      {
        method,
        path: target.segments,
        params: match.params,
        query: target.query,
        baseUrl: connection.baseUrl,
        address: connection.address,
        trace: exchange.trace,
        readBody: () => readBody(request),
      },
      sources,
    )
  }

  /** Most answers are in memory and leave at once; only a file, or what has to be read first, is waited for. */
  function send(exchange: Exchange, reply: Reply): Promise<void> | undefined {
    if (reply.kind === 'file') {
      return sendFileReply(exchange, reply, isOwnProbe(exchange) ? quietFileParts : fileParts)
    }
    exchange.isProbe = reply.isProbe === true
    sendContent(exchange, reply)
    if (reply.entryName !== undefined && !exchange.isHead) tellEntry(exchange, reply.entryName)
    return undefined
  }

  function tellEntry(exchange: Exchange, name: string): void {
    if (isOwnProbe(exchange)) return
    const { address } = exchange.connection
    const mac = sources.seen.macOf(address)
    fileParts.onEvent({ type: 'entry-sent', at: sources.clock.now(), name, address, mac })
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { request, connection, trace } = exchange
    const { address } = connection
    const mac = sources.seen.macOf(address)
    log.error({ err: error, path: pathForLog(request.url), address, mac, trace }, 'boot request failed')
    if (exchange.response.headersSent) exchange.response.destroy()
    else sendContent(exchange, failed)
  }

  return function answerRequest(request, response, connection) {
    const startedAt = parts.monotonicSeconds()
    const { isBodyTooLong, trace } = readFirst(request)
    const exchange: Exchange = {
      request,
      response,
      connection,
      isHead: request.method === 'HEAD',
      isLast: isBodyTooLong || parts.isClosing(),
      trace,
      route: undefined,
      status: 0,
      isProbe: false,
    }

    function finish(): void {
      logMiss(exchange)
      const seconds = parts.monotonicSeconds() - startedAt
      parts.onRequest(exchange.route, request.method ?? '', exchange.status, seconds)
      if (parts.isClosing() && request.socket.writable) request.socket.destroySoon()
    }

    try {
      const reply = replyTo(exchange)
      const sent =
        reply instanceof Promise ? reply.then((late) => send(exchange, late)) : send(exchange, reply)
      if (sent === undefined) finish()
      else void sent.catch((error: unknown) => fail(exchange, error)).then(finish)
    } catch (error) {
      fail(exchange, error)
      finish()
    }
  }

  /** A name that is not here, once a minute for each client; optional probes are normal (field cases 84, 165). */
  function logMiss({ request, status, isProbe, trace, connection: { address } }: Exchange): void {
    if (status !== 404 && status !== 400) return
    const path = pathForLog(request.url)
    const suppressed = misses.admit(`${address} ${path}`)
    if (suppressed === undefined) return
    const fields = counted({ address, mac: sources.seen.macOf(address), path, status, trace }, suppressed)
    if (isProbe) log.debug(fields, 'a loader tried a name that is not here')
    else log.info(fields, 'boot request for nothing that is here')
  }
}

/** What has to be known of a request before it is answered. */
interface FirstLook {
  /** Too large to wait for: the connection must end with the answer. */
  readonly isBodyTooLong: boolean
  readonly trace: TraceId | undefined
}

const nothingSpecial: FirstLook = { isBodyTooLong: false, trace: undefined }

/**
 * Looks through the raw header lines, because Node takes longer to sort them than we take to answer: a body is read and
 * dropped, unless somebody reads it, and a trace context is taken over.
 */
function readFirst(request: IncomingMessage): FirstLook {
  const { rawHeaders } = request
  let look = nothingSpecial
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index] ?? ''
    if (length !== 11 && length !== 14 && length !== 17) continue
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    if (name === 'traceparent') look = { ...look, trace: parseTraceparent(value)?.traceId }
    if (name !== 'content-length' && name !== 'transfer-encoding') continue
    request.resume()
    const isTooLong = name === 'transfer-encoding' || Number(value) > maxDroppedBodyBytes
    look = { ...look, isBodyTooLong: look.isBodyTooLong || isTooLong }
  }
  return look
}

/** Whether `pilotlight doctor` looks. Only from this machine: nobody else can keep a fetch out of the timeline. */
function isOwnProbe({ connection, trace }: Exchange): boolean {
  return connection.isFromHere && isProbeTrace(trace)
}
