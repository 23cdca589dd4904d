import { AsyncLocalStorage } from 'node:async_hooks'
import { type RequestTrace, traceHeaders } from '../core/trace-context.ts'

/** To which trace belongs what is being done: that of the request that caused it. */
export interface RequestTraces {
  /** Does something, and everything that comes of it, as a part of a trace. */
  within(trace: RequestTrace, run: () => void): void
  current(): RequestTrace | undefined
  /** For a request that goes out; none when nothing of a trace caused it. */
  headers(): Readonly<Record<string, string>>
}

/** @param newSpanId 16 hex digits that name one request in its trace */
export function createRequestTraces(newSpanId: () => string): RequestTraces {
  const traces = new AsyncLocalStorage<RequestTrace>()
  return {
    within: (trace, run) => traces.run(trace, run),
    current: () => traces.getStore(),
    headers() {
      const trace = traces.getStore()
      return trace === undefined ? {} : traceHeaders(trace, newSpanId())
    },
  }
}
