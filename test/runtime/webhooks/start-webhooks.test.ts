import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AttemptId, BootAttempt, Diagnosis } from '../../../src/core/boot-attempt.ts'
import type { BootId } from '../../../src/core/boot-event.ts'
import type { AuditEntry } from '../../../src/core/fleet.ts'
import { silentLog } from '../../../src/core/log.ts'
import { type Webhook, webhookEventTypes } from '../../../src/core/webhook.ts'
import { realClock, realTimers } from '../../../src/runtime/real-time.ts'
import { type StartedWebhooks, startWebhooks } from '../../../src/runtime/webhooks/start-webhooks.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies of every event
const received: { readonly headers: IncomingHttpHeaders; readonly message: any }[] = []
let receiver: Server
let webhooks: StartedWebhooks

beforeEach(async () => {
  received.length = 0
  receiver = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part
    })
    request.on('end', () => {
      received.push({ headers: request.headers, message: JSON.parse(body) })
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  webhooks = startWebhooks({
    version: '1.2.3',
    currentTrace: () => undefined,
    onOutcome: () => {},
    clock: realClock,
    timers: realTimers,
    log: silentLog,
  })
})
afterEach(async () => {
  await webhooks.stop()
  receiver.closeAllConnections()
  receiver.close()
})

function configure(more: Partial<Webhook> = {}): void {
  const { port } = receiver.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const hook: Webhook = { name: 'all', url, secret: 'x'.repeat(20), events: webhookEventTypes, ...more }
  webhooks.configure({ webhooks: [hook], upstream: { allowedOrigins: [] } })
}

const diagnosis: Diagnosis = { code: 'no-report', text: 'It says nothing.', remedy: 'Look at it.', at: 1_000 }
const attempt: BootAttempt = {
  id: '0mh9xk2r0aaaaaa' as AttemptId,
  bootIds: ['AAAAAAAAAAAAAAAAAAAAAA' as BootId, '_____________________w' as BootId],
  host: 'rack1-n01',
  startedAt: 0,
  lastAt: 1_000,
  state: 'over',
  outcome: 'failed',
  endedAt: 1_000,
  phase: 'system',
  phases: [],
  steps: [],
  leftOut: 0,
}
const entry: AuditEntry = {
  at: 1_000,
  by: 'boot x',
  via: 'report',
  action: 'install.done',
  target: 'host/rack1-n01',
  summary: 'install 3 of host rack1-n01 is done',
}

const types = () => received.map(({ message }) => message.type).sort()

it('a boot that is over or shows what is wrong is told, in the trace of its boot id', async () => {
  configure()
  webhooks.onOver(attempt)
  webhooks.onDiagnosis({ ...attempt, state: 'stuck' }, diagnosis)
  await expect.poll(types).toEqual(['boot.over', 'boot.stuck'])
  const over = received.find(({ message }) => message.type === 'boot.over')
  expect(over?.message.data).toMatchObject({ host: 'rack1-n01', outcome: 'failed', durationMs: 1_000 })
  expect(over?.headers.traceparent).toMatch(/^00-f{32}-[0-9a-f]{16}-01$/)
  expect(over?.headers['user-agent']).toBe('pilotlight/1.2.3')
  const stuck = received.find(({ message }) => message.type === 'boot.stuck')
  expect(stuck?.message.data.diagnosis).toMatchObject({ code: 'no-report', remedy: 'Look at it.' })
})

it('an install that is done is told as that, and as a change; without the number that only the store knows', async () => {
  configure()
  webhooks.onChanged([
    { ...entry, id: 7 },
    { ...entry, action: 'pin.set' },
  ])
  await expect.poll(types).toEqual(['change.made', 'change.made', 'install.done'])
  const done = received.find(({ message }) => message.type === 'install.done')
  expect(done?.message).toEqual({
    version: 1,
    type: 'install.done',
    timestamp: '1970-01-01T00:00:01.000Z',
    data: { ...entry, at: '1970-01-01T00:00:01.000Z' },
  })
})

it('a new configuration counts at once', async () => {
  configure({ events: ['boot.stuck'] })
  webhooks.onOver(attempt)
  configure({ events: ['boot.over'] })
  webhooks.onOver({ ...attempt, host: 'second' })
  await expect.poll(types).toEqual(['boot.over'])
  expect(received[0]?.message.data.host).toBe('second')
})
