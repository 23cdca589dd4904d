import { performance } from 'node:perf_hooks'
import { ServiceError } from '../core/errors.ts'
import { displayUrl } from './display-url.ts'
import { upstreamError } from './upstream-error.ts'

/** What must arrive in every stall timeout of waiting; a source that drips single bytes is not making progress. */
const leastBytesPerWindow = 1024

export interface ResponseBodyOptions {
  readonly body: AsyncIterable<Uint8Array>
  readonly url: URL
  readonly signal: AbortSignal | undefined
  readonly stallTimeoutMs: number
  /** Ms of a clock that never jumps. */
  readonly now?: () => number
}

/**
 * The bytes of an answer, with the failures of the transport in our words. Only the time spent waiting for the
 * source counts: a slow reader is not the source's fault.
 * @throws ServiceError UPSTREAM_STALLED, UPSTREAM_UNREACHABLE when it breaks off; the signal's reason when aborted
 */
export async function* responseBody(
  options: ResponseBodyOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { body, url, signal, stallTimeoutMs, now = () => performance.now() } = options
  let windowBytes = 0
  let waitedMs = 0
  let waitingSince = now()
  try {
    for await (const chunk of body) {
      windowBytes += chunk.length
      waitedMs += now() - waitingSince
      if (windowBytes >= leastBytesPerWindow) {
        windowBytes = 0
        waitedMs = 0
      } else if (waitedMs > stallTimeoutMs) {
        throw tooSlow(url, windowBytes, stallTimeoutMs)
      }
      yield chunk
      waitingSince = now()
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw upstreamError('reading', url, error)
  }
}

function tooSlow(url: URL, bytes: number, stallTimeoutMs: number): ServiceError {
  const at = displayUrl(url)
  return new ServiceError(
    'UPSTREAM_STALLED',
    `reading ${at}: only ${bytes} bytes in ${Math.round(stallTimeoutMs / 1000)} s`,
    { url: at, step: 'reading', found: bytes },
  )
}
