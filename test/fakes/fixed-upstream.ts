import type { UpstreamClient, UpstreamRequest, UpstreamResponse } from '../../src/upstream/client.ts'

export interface FixedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

export type FixedAnswers = Readonly<Record<string, Uint8Array | ((request: UpstreamRequest) => FixedAnswer)>>

/**
 * An upstream without a network. Bytes are served as a proper server would, with a strong tag and ranges; anything
 * else is what the function says. What is not named is 404.
 */
export function createFixedUpstream(answers: FixedAnswers): UpstreamClient & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async request(request) {
      request.signal?.throwIfAborted()
      asked.push(`${request.method ?? 'GET'} ${request.url}`)
      const known = answers[request.url]
      if (known === undefined) return respond(request, { status: 404 })
      return respond(request, typeof known === 'function' ? known(request) : serve(request, known))
    },
    async close() {},
  }
}

/** Like a server with files: strong tag, `Range` with `If-Range`. */
export function serve({ headers = {} }: UpstreamRequest, bytes: Uint8Array, etag = '"v1"'): FixedAnswer {
  const from = /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]
  const isFresh = headers['if-range'] === undefined || headers['if-range'] === etag
  if (from === undefined || !isFresh) {
    return { headers: { etag, 'content-length': String(bytes.length) }, body: bytes }
  }
  const part = bytes.subarray(Number(from))
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`
  return {
    status: 206,
    headers: { etag, 'content-range': range, 'content-length': String(part.length) },
    body: part,
  }
}

function respond(
  request: UpstreamRequest,
  { status = 200, headers = {}, body }: FixedAnswer,
): UpstreamResponse {
  const isHead = request.method === 'HEAD'
  return { url: request.url, status, headers, body: chunksOf(isHead ? undefined : body), async discard() {} }
}

async function* chunksOf(body: FixedAnswer['body']): AsyncGenerator<Uint8Array> {
  if (body === undefined) return
  if (!(body instanceof Uint8Array)) {
    yield* body
    return
  }
  // In uneven pieces, as a network does.
  for (let start = 0; start < body.length; start += 7000) yield body.subarray(start, start + 7000)
}
