import type { UpstreamClient, UpstreamRequest, UpstreamResponse } from '../../src/upstream/client.ts'

/** What the far side answers; an error is thrown by the request. */
export type ScriptedAnswer =
  | Error
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      /** Text, bytes, or pieces of which an error breaks the body off. */
      readonly body?: string | Uint8Array | readonly (Uint8Array | Error)[]
    }

export interface ScriptedUpstream extends UpstreamClient {
  /** Oldest first. */
  readonly requests: UpstreamRequest[]
  /** Responses that were given up or read to the end, and so hold no connection. */
  readonly released: number
  readonly isClosed: boolean
}

/** An upstream client that answers as the test says, by URL or by anything else in the request. */
export function createScriptedUpstream(
  answer: (request: UpstreamRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
): ScriptedUpstream {
  const requests: UpstreamRequest[] = []
  let released = 0
  let isClosed = false
  return {
    requests,
    get released() {
      return released
    },
    get isClosed() {
      return isClosed
    },
    async request(request): Promise<UpstreamResponse> {
      requests.push(request)
      request.signal?.throwIfAborted()
      const given = await answer(request)
      request.signal?.throwIfAborted()
      if (given instanceof Error) throw given
      const pieces = piecesOf(given.body ?? '')
      return {
        url: request.url,
        status: given.status ?? 200,
        headers: given.headers ?? {},
        body: (async function* () {
          for (const piece of pieces) {
            request.signal?.throwIfAborted()
            if (piece instanceof Error) throw piece
            yield piece
          }
        })(),
        async discard() {
          released++
        },
      }
    },
    async close() {
      isClosed = true
    },
  }
}

function piecesOf(
  body: string | Uint8Array | readonly (Uint8Array | Error)[],
): readonly (Uint8Array | Error)[] {
  if (typeof body === 'string') return body === '' ? [] : [new TextEncoder().encode(body)]
  return body instanceof Uint8Array ? [body] : body
}
