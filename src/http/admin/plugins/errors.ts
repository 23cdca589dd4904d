import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import { createLineLimiter } from '../../../core/line-limiter.ts'
import type { Log } from '../../../core/log.ts'
import { readRequestTrace } from '../../../core/trace-context.ts'
import { type ApiFailure, toApiFailure } from '../api-error.ts'
import type { AdminApp } from '../create-admin-app.ts'
import type { RequestSchema } from '../schema-at.ts'
import { securityHeaders } from './security-headers.ts'

/** Tells the log of a failed request: a fault of ours aloud, a client's mistake hardly. */
export type TellFailure = (error: unknown, request: FastifyRequest, failure: ApiFailure) => void

/** A store that is gone for a night must not fill the log: the same fault is told once a minute (field case 165). */
export function createFailureLog({ log, clock }: { log: Log; clock: Clock }): TellFailure {
  const lines = createLineLimiter({ clock, mostLines: 60 })
  return (error, request, { status, body }) => {
    const trace = readRequestTrace(request.headers)?.traceId
    const fields = {
      err: error,
      route: request.routeOptions.url,
      method: request.method,
      ...(trace !== undefined && { trace }),
    }
    const key = `${fields.method} ${fields.route} ${body.code} ${body.message}`
    const suppressed = status >= 500 ? lines.admit(key) : undefined
    if (suppressed !== undefined) log.error({ ...fields, suppressed }, 'admin request failed')
    else if (status < 500) log.debug(fields, 'admin request refused')
  }
}

/** One translation from errors to answers. */
export function answerErrors(app: AdminApp, { tellFailure }: { readonly tellFailure: TellFailure }): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const failure = toApiFailure(error, refusedPart(error, request.routeOptions.schema))
    tellFailure(error, request, failure)
    return reply
      .code(failure.status)
      .headers(failure.headers ?? {})
      .send(failure.body)
  })
}

function refusedPart(error: unknown, schema: FastifySchema | undefined): RequestSchema | undefined {
  const { validationContext } = error as FastifyError
  const part = validationContext === 'querystring' ? schema?.querystring : schema?.body
  return part as RequestSchema | undefined
}

/** URLs that the router cannot read; no hook has run for them. */
export function frameworkErrors(error: FastifyError, _: FastifyRequest, reply: FastifyReply): void {
  const { status, body } = toApiFailure(error)
  reply.headers(securityHeaders).code(status).send(body)
}

const clientFailures: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'the request headers are too long'],
}

/** Bytes that are not HTTP: the same error shape, written by hand, then the connection ends. */
export function onClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = clientFailures[error.code ?? ''] ?? [400, 'this is not a readable HTTP request']
  if (socket.writable) socket.write(rawAnswer({ status, body: { code: 'USAGE', message } }))
  socket.destroy()
}

function rawAnswer({ status, body }: ApiFailure): string {
  const text = JSON.stringify(body)
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${text}`
}
