import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { realTimers } from '../../src/runtime/real-time.ts'
import { createRequestTraces } from '../../src/runtime/request-traces.ts'

const trace = { traceId: 'a'.repeat(32), isSampled: true, state: 'x=1' }
const other = { traceId: 'c'.repeat(32), isSampled: false }

it('what comes of a request belongs to its trace, beside others', async () => {
  let spans = 0
  const traces = createRequestTraces(() => String(++spans).padStart(16, '0'))
  expect([traces.current(), traces.headers()]).toEqual([undefined, {}])
  const seen: unknown[] = []
  async function work() {
    await delay(1)
    seen.push(traces.current(), traces.headers())
  }
  let first: Promise<void> | undefined
  let second: Promise<void> | undefined
  traces.within(trace, () => {
    first = work()
  })
  traces.within(other, () => {
    second = work()
  })
  await first
  await second
  expect(seen).toEqual([
    trace,
    { traceparent: `00-${trace.traceId}-0000000000000001-01`, tracestate: 'x=1' },
    other,
    { traceparent: `00-${other.traceId}-0000000000000002-00` },
  ])
})

it('what is put off belongs to nobody: a refresh in an hour is no part of the request that came before it', async () => {
  const traces = createRequestTraces(() => '0'.repeat(16))
  const later = new Promise<unknown>((done) => {
    traces.within(trace, () => void realTimers.after(1, () => done(traces.current())))
  })
  // The timer keeps no process alive by itself.
  await delay(20)
  expect(await later).toBeUndefined()
})
