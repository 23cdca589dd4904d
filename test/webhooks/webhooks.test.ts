import { describe, expect, it } from 'vitest'
import type { Webhook, WebhookEventType } from '../../src/core/webhook.ts'
import type { WebhookAnswer } from '../../src/webhooks/judge-answer.ts'
import type { WebhookMessage, WebhookOutcome } from '../../src/webhooks/webhook-queue.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { createManualTime, settled } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const day = 24 * 60 * 60 * 1000
const ok: WebhookAnswer = { kind: 'status', status: 200 }
const unwell: WebhookAnswer = { kind: 'status', status: 503 }

const hook = (name: string, more: Partial<Webhook> = {}): Webhook => ({
  name,
  url: `https://${name}.example/hook?key=hidden-in-url`,
  secret: 'secret-of-many-characters',
  events: ['boot.over', 'change.made'],
  ...more,
})

function setUp(...webhooks: Webhook[]) {
  const time = createManualTime()
  const log = createRecordingLog()
  const outcomes: WebhookOutcome[] = []
  const sent: { readonly to: string; readonly message: WebhookMessage; readonly at: number }[] = []
  let answerOf = async (_name: string, _message: WebhookMessage): Promise<WebhookAnswer> => ok
  let ids = 0
  const hooks = createWebhooks({
    send(webhook, message) {
      sent.push({ to: webhook.name, message, at: time.now() })
      return answerOf(webhook.name, message)
    },
    newId: () => `msg_${ids++}`,
    onOutcome: (outcome) => void outcomes.push(outcome),
    clock: time,
    timers: time,
    random: () => 1,
    log,
  })
  hooks.configure(webhooks)
  return {
    hooks,
    time,
    /** What was begun goes as far as it can before time does. */
    async pass(ms: number) {
      await settled()
      await time.advance(ms)
    },
    log,
    outcomes,
    sent,
    count: (wanted: WebhookOutcome) => outcomes.filter((outcome) => outcome === wanted).length,
    answer(next: typeof answerOf) {
      answerOf = next
    },
    tell(n: number, type: WebhookEventType = 'boot.over') {
      hooks.tell(type, () => ({ at: time.now(), data: { n } }))
    },
    numbers: () => sent.map(({ message }) => JSON.parse(message.body).data.n),
  }
}

describe('what webhooks are told', () => {
  it('is what each of them wants, in a body with a version', async () => {
    const { hooks, sent, time, outcomes } = setUp(hook('a'), hook('b', { events: ['stream.held'] }))
    const trace = { traceId: 'a'.repeat(32), isSampled: true }
    hooks.tell('boot.over', () => ({ at: 0, data: { host: 'n1' }, trace }))
    hooks.tell('stream.held', () => ({ at: 1_000, data: { stream: 's' } }))
    hooks.tell('boot.stuck', () => {
      throw new Error('is made for nobody')
    })
    await settled()
    expect(sent).toEqual([
      {
        to: 'a',
        at: time.now(),
        message: {
          id: 'msg_0',
          type: 'boot.over',
          at: 0,
          trace,
          body: '{"version":1,"type":"boot.over","timestamp":"1970-01-01T00:00:00.000Z","data":{"host":"n1"}}',
        },
      },
      { to: 'b', at: time.now(), message: expect.objectContaining({ id: 'msg_1', type: 'stream.held' }) },
    ])
    expect(outcomes).toEqual(['delivered', 'delivered'])
  })

  it('is sent again, under the same id, ever more seldom, until it is taken', async () => {
    const { sent, time, pass, answer, tell, count, log, hooks } = setUp(hook('a'))
    answer(async () => unwell)
    const from = time.now()
    tell(1)
    await pass(60_000)
    expect(sent.map(({ at }) => (at - from) / 1000)).toEqual([0, 5, 15, 35])
    expect(new Set(sent.map(({ message }) => message.id)).size).toBe(1)
    expect(hooks.list()).toEqual([
      {
        name: 'a',
        events: ['boot.over', 'change.made'],
        state: 'failing',
        waiting: 1,
        refused: 0,
        dropped: 0,
        problem: 'status 503',
      },
    ])
    answer(async () => ok)
    await pass(60_000)
    expect([count('retried'), count('delivered')]).toEqual([4, 1])
    expect(hooks.list()[0]).toMatchObject({ state: 'good', waiting: 0, lastDeliveredAt: expect.any(Number) })
    expect(log.lines.map(({ message }) => message)).toEqual([
      'webhook not reached, it is tried again',
      'webhook reached again',
    ])
  })

  it('is given up after a day', async () => {
    const { sent, time, pass, answer, tell, outcomes } = setUp(hook('a'))
    answer(async () => ({ kind: 'failed', why: 'ECONNREFUSED' }))
    tell(1)
    await pass(2 * day)
    expect(outcomes.at(-1)).toBe('expired')
    expect(sent.length).toBeLessThan(45)
    expect(time.pending).toBe(0)
  })

  it('comes no sooner than the receiver asked for', async () => {
    const { sent, time, pass, answer, tell } = setUp(hook('a'))
    answer(async () => ({ kind: 'status', status: 429, retryAfter: '300' }))
    const from = time.now()
    tell(1)
    await pass(299_000)
    expect(sent).toHaveLength(1)
    await pass(1_000)
    expect(sent.map(({ at }) => at - from)).toEqual([0, 300_000])
  })

  it.each([400, 404, 302])('is not sent again after status %i, and the others go on', async (status) => {
    const { sent, pass, answer, tell, outcomes } = setUp(hook('a'))
    answer(async (_, message) => (message.body.includes('"n":1') ? { kind: 'status', status } : ok))
    tell(1)
    tell(2)
    await pass(day)
    expect(sent).toHaveLength(2)
    expect(outcomes).toEqual(['rejected', 'delivered'])
  })

  it.each([307, 404])(
    'says so while its receiver answers every message with %i, and how many',
    async (status) => {
      const { hooks, answer, tell } = setUp(hook('a'))
      answer(async () => ({ kind: 'status', status }))
      tell(1)
      tell(2)
      await settled()
      expect(hooks.list()[0]).toMatchObject({ state: 'refusing', refused: 2, problem: `status ${status}` })
      answer(async () => ok)
      tell(3)
      await settled()
      expect(hooks.list()[0]).toMatchObject({ state: 'good', refused: 2 })
      expect(hooks.list()[0]?.problem).toBeUndefined()
    },
  )

  it('ends with 410, until the configuration is read again', async () => {
    const { hooks, sent, answer, tell, outcomes, pass } = setUp(hook('a'))
    answer(async () => ({ kind: 'status', status: 410 }))
    tell(1)
    await settled()
    tell(2)
    await pass(day)
    expect(sent).toHaveLength(1)
    expect(outcomes).toEqual(['rejected'])
    expect(hooks.list()[0]).toMatchObject({ state: 'gone', waiting: 0, refused: 1 })
    answer(async () => ok)
    hooks.configure([hook('a')])
    tell(3)
    await settled()
    expect(outcomes).toEqual(['rejected', 'delivered'])
  })
})

describe('a receiver in trouble', () => {
  it('is asked for one message at a time, not for all that wait', async () => {
    const { sent, pass, answer, tell } = setUp(hook('a'))
    answer(async () => unwell)
    for (let n = 0; n < 500; n += 1) tell(n)
    await settled()
    expect(sent).toHaveLength(4)
    const before = sent.length
    await pass(3_600_000)
    expect(sent.length - before).toBeLessThan(15)
  })

  it('that cannot digest one message gets the others', async () => {
    const { sent, pass, answer, tell, count } = setUp(hook('a'))
    answer(async (_, message) => (message.body.includes('"n":0}') ? unwell : ok))
    for (let n = 0; n < 50; n += 1) tell(n)
    await pass(600_000)
    expect(count('delivered')).toBe(49)
    expect(sent.filter(({ message }) => message.body.includes('"n":0}')).length).toBeGreaterThan(3)
  })

  it('loses the oldest of more than 1,000 messages, which are counted, and told once', async () => {
    const { hooks, time, answer, tell, count, log, numbers } = setUp(hook('a'))
    answer(() => new Promise(() => {}))
    for (let n = 0; n < 3_000; n += 1) tell(n)
    await settled()
    expect(count('dropped')).toBe(1_996)
    expect(hooks.list()[0]).toMatchObject({ waiting: 1_004, dropped: 1_996 })
    expect(log.lines.filter(({ message }) => message.includes('dropped'))).toHaveLength(1)
    expect(numbers()).toEqual([0, 1, 2, 3])
    expect(time.pending).toBe(0)
  })

  it('holds up no other', async () => {
    const { answer, tell, sent } = setUp(hook('dead'), hook('alive'))
    answer((name) => (name === 'dead' ? new Promise(() => {}) : Promise.resolve(ok)))
    for (let n = 0; n < 100; n += 1) {
      tell(n)
      await settled()
    }
    expect(sent.filter(({ to }) => to === 'alive')).toHaveLength(100)
    expect(sent.filter(({ to }) => to === 'dead')).toHaveLength(4)
  })

  it('is not forgotten for years because the clock was set back', async () => {
    const { sent, time, pass, answer, tell, count } = setUp(hook('a'))
    answer(async () => unwell)
    tell(1)
    await settled()
    const now = time.now
    const years = 20 * 365 * day
    Object.assign(time, { now: () => now() - years })
    answer(async () => ok)
    await pass(3_600_000)
    expect(sent.length).toBeGreaterThan(1)
    expect(count('delivered')).toBe(1)
  })
})

describe('a new configuration', () => {
  it('keeps what waits for a webhook that stays, and drops it for one that goes or changes', async () => {
    const { hooks, answer, tell, pass, sent } = setUp(hook('stays'), hook('goes'), hook('moves'))
    answer(async () => unwell)
    tell(1)
    await settled()
    hooks.configure([
      hook('stays', { events: ['stream.held'] }),
      hook('moves', { url: 'https://elsewhere.example/' }),
    ])
    sent.length = 0
    answer(async () => ok)
    await pass(day)
    expect(sent.map(({ to }) => to)).toEqual(['stays'])
  })

  it('that has none leaves nothing behind', async () => {
    const { hooks, answer, tell, time, pass, sent } = setUp(hook('a'))
    answer(async () => unwell)
    tell(1)
    await settled()
    hooks.configure([])
    await pass(day)
    expect([sent.length, time.pending, hooks.list().length]).toEqual([1, 0, 0])
  })
})

describe('a test', () => {
  it('sends a message at once, past what waits, and tells what came of it', async () => {
    const { hooks, answer, tell, sent } = setUp(hook('a'))
    answer(async () => unwell)
    tell(1)
    await settled()
    expect(await hooks.test('a')).toEqual({ kind: 'status', status: 503, isDelivered: false })
    answer(async () => ok)
    expect(await hooks.test('a')).toEqual({ kind: 'status', status: 200, isDelivered: true })
    expect(JSON.parse(sent.at(-1)?.message.body ?? '')).toMatchObject({
      version: 1,
      type: 'test',
      data: { webhook: 'a' },
    })
  })

  it('of a webhook that is none says which there are', async () => {
    const { hooks } = setUp(hook('a'))
    await expect(hooks.test('b')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { hint: 'webhooks: a' },
    })
  })
})

it('neither URL nor secret is in the log or in the list', async () => {
  const { hooks, answer, tell, pass, log } = setUp(hook('a'))
  for (const status of [404, 503, 200, 410]) {
    answer(async () => ({ kind: 'status', status }))
    for (let n = 0; n < 1_500; n += 1) tell(n)
    await pass(60_000)
  }
  const told = log.lines.map(({ message }) => message)
  expect(new Set(told)).toEqual(
    new Set([
      'webhook is too slow: the oldest messages are dropped',
      'webhook refused a message',
      'webhook not reached, it is tried again',
      'webhook reached again',
      'webhook wants no more: it is told nothing until a reload',
    ]),
  )
  expect(told.length).toBeLessThan(10)
  const said = JSON.stringify([log.lines, hooks.list()])
  expect(said).not.toContain('hidden-in-url')
  expect(said).not.toContain('secret-of-many')
})
