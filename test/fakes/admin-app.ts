import type { AdminAccess } from '../../src/http/admin/access.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations, type FakeAnswers } from './admin-operations.ts'
import { fakeSecrets } from './fleet-operations.ts'
import { createManualTime } from './manual-time.ts'
import { createRecordingLog } from './recording-log.ts'

export interface AdminAppSetup {
  readonly access?: AdminAccess
  readonly answers?: FakeAnswers
  readonly now?: () => number
}

/** The admin app over fakes; nothing listens. `ask` carries a credential of role `write`. */
export function createFakeAdminApp({
  access = { host: '127.0.0.1' },
  answers = {},
  now = () => 0,
}: AdminAppSetup = {}) {
  const clock = { now }
  const operations = createFakeOperations(answers)
  const log = createRecordingLog()
  const metrics = createMetrics({ version: '1.2.3', clock, withProcess: false })
  const app = createAdminApp({
    operations,
    metrics,
    log,
    version: '1.2.3',
    clock,
    timers: createManualTime(),
    access,
  })

  function ask(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD' | 'PATCH',
    url: string,
    { body, headers = {} }: { body?: object | string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    return app.inject({
      method,
      url,
      headers: { host: '127.0.0.1', authorization: `Bearer ${fakeSecrets.write}`, ...headers },
      ...(body !== undefined && { payload: body }),
    })
  }
  return { app, operations, fleet: operations.fleet, log, metrics, ask }
}
