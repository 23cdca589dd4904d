import { type RequestTrace, readRequestTrace } from '../../../core/trace-context.ts'
import type { AdminApp } from '../create-admin-app.ts'

/** Does something as a part of a trace. */
export type WithinTrace = (trace: RequestTrace, run: () => void) => void

/**
 * What a request causes belongs to the trace that it came with. After its body was read, because what reads it goes on
 * in the life of the connection, which many requests have in common.
 */
export function carryTraces(app: AdminApp, { within }: { readonly within: WithinTrace }): void {
  app.addHook('preHandler', (request, _, done) => {
    const trace = readRequestTrace(request.headers)
    if (trace === undefined) done()
    else within(trace, done)
  })
}
