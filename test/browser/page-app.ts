import type { AddressInfo } from 'node:net'
import type { AdminAccess } from '../../src/http/admin/access.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createEventStreams } from '../../src/http/admin/events/event-streams.ts'
import { realTimers } from '../../src/runtime/real-time.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations, type FakeAnswers } from '../fakes/admin-operations.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

export const pageDirectory = new URL('../../templates/dashboard', import.meta.url).pathname

/** The real admin app with its page over fakes; nothing listens yet. */
export function createPageApp({
  answers = {},
  now,
  access = { host: '127.0.0.1' },
}: {
  answers?: FakeAnswers
  now: () => number
  access?: AdminAccess
}) {
  const clock = { now }
  const operations = createFakeOperations(answers)
  const log = createRecordingLog()
  const metrics = createMetrics({ version: '1.2.3', clock, withProcess: false })
  const timers = realTimers
  const streams = createEventStreams({ feed: operations.events, clock, timers })
  const app = createAdminApp({
    operations,
    metrics,
    log,
    version: '1.2.3',
    clock,
    timers,
    access,
    pageDirectory,
    streams,
  })
  return { app, operations, log, metrics, streams }
}

export type PageApp = ReturnType<typeof createPageApp>

/** Listens on loopback and tells where. */
export async function listenOnLoopback({ app }: PageApp): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
