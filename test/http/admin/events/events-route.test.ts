import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServiceEventFeed, type ServiceFeed } from '../../../../src/runtime/feed.ts'
import { type AdminAppSetup, createFakeAdminApp } from '../../../fakes/admin-app.ts'
import { fakeSecrets } from '../../../fakes/fleet-operations.ts'

let feed: ServiceFeed
let close: () => Promise<unknown> = async () => {}
const readers: IncomingMessage[] = []

beforeEach(() => {
  feed = createServiceEventFeed({ clock: { now: () => 0 }, epoch: 36 })
})
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.destroy()
  await close()
})

async function listen(setup: AdminAppSetup = {}) {
  const made = createFakeAdminApp({ ...setup, answers: { events: feed, ...setup.answers } })
  close = () => made.app.close()
  await made.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...made, port: (made.app.server.address() as AddressInfo).port }
}

async function get(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${fakeSecrets.read}` },
): Promise<{ readonly reader: IncomingMessage; readonly text: () => string }> {
  const reader = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', path: `/api/v1${path}`, headers, agent: false }, resolve)
      .on('error', reject)
      .end()
  })
  readers.push(reader)
  reader.on('error', () => {})
  let text = ''
  reader.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { reader, text: () => text }
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !condition(); turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(condition()).toBe(true)
}

describe('GET /api/v1/events', () => {
  it('gives a token of role read what it asks for, with the headers of every answer here', async () => {
    const { port } = await listen()
    const { reader, text } = await get(port, '/events?types=boot,change&mac=52-54-00-AB-CD-EF&host=rack1-n01')
    expect(reader.statusCode).toBe(200)
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    })
    const mac = '52:54:00:ab:cd:ef'
    feed.publish('stream', () => ({ n: 1 }))
    feed.publish('boot', () => ({ n: 2 }), { host: 'rack1-n01' })
    feed.publish('boot', () => ({ n: 3 }), { mac })
    feed.publish('boot', () => ({ n: 4 }), { host: 'rack1-n01', mac })
    await until(() => text().includes('"n":4'))
    expect(text()).toBe('retry: 2000\nid: 10-0\n\nid: 10-4\nevent: boot\ndata: {"n":4}\n\n')
  })

  it('goes on where Last-Event-ID says, whatever the URL says that a browser asks for again', async () => {
    const { port } = await listen()
    for (let index = 0; index < 3; index += 1) feed.publish('boot', () => ({}))
    const headers = { authorization: `Bearer ${fakeSecrets.read}` }
    const again = await get(port, '/events?after=10-0', { ...headers, 'last-event-id': '10-2' })
    await until(() => again.text().includes('10-3'))
    expect(again.text()).not.toContain('10-1')
    const first = await get(port, '/events?after=10-0', { ...headers, 'last-event-id': '' })
    await until(() => first.text().includes('10-3'))
    expect(first.text()).toContain('10-1')
  })

  it.each([
    ['/events?types=boots', 'types'],
    ['/events?types=', 'types'],
    ['/events?types=boot,,change', 'types'],
    ['/events?mac=nonsense', 'mac'],
    ['/events?since=1', 'since'],
    [`/events?after=${'x'.repeat(65)}`, 'after'],
    ['/events?after=a%0Ab', 'after'],
    ['/events?after=1&after=2', 'after'],
  ])('%s is refused, with the name of what is wrong', async (url, field) => {
    const { ask } = await listen()
    const answer = await ask('GET', `/api/v1${url}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'USAGE', field })
  })

  it('nobody follows without a token, and other verbs are told so', async () => {
    const { ask, port } = await listen()
    const refused = await get(port, '/events', {})
    expect(refused.reader.statusCode).toBe(401)
    for (const method of ['HEAD', 'POST'] as const) {
      const answer = await ask(method, '/api/v1/events')
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET'])
    }
  })

  it('ends when its token is revoked, and the next attempt is refused', async () => {
    let isRevoked = false
    const actor = { by: 'token sieve', via: 'api' } as const
    let now = 0
    const { port } = await listen({
      now: () => now,
      answers: { fleet: { authenticate: () => (isRevoked ? undefined : { actor, role: 'read' }) } },
    })
    const { reader, text } = await get(port, '/events')
    const ended = new Promise((resolve) => reader.once('end', resolve))
    isRevoked = true
    now += 2_000
    feed.publish('boot', () => ({ n: 1 }))
    await ended
    expect(text()).not.toContain('"n":1')
    expect((await get(port, '/events')).reader.statusCode).toBe(401)
  })

  it('the 33rd stream of an address is refused with when to come again, and the control socket has no such limit', async () => {
    const { port } = await listen()
    for (let index = 0; index < 32; index += 1) {
      expect((await get(port, '/events')).reader.statusCode).toBe(200)
    }
    const { reader, text } = await get(port, '/events')
    expect([reader.statusCode, reader.headers['retry-after']]).toEqual([429, '10'])
    await until(() => text() !== '')
    expect(JSON.parse(text())).toMatchObject({ code: 'RATE_LIMITED', hint: expect.any(String) })
    await close()

    const control = await listen({ access: 'control' })
    for (let index = 0; index < 40; index += 1) {
      expect((await get(control.port, '/events', {})).reader.statusCode).toBe(200)
    }
  })

  it('is counted once, when it begins: how long somebody follows says nothing of how fast we are', async () => {
    const { port, metrics } = await listen()
    const { reader, text } = await get(port, '/events')
    await until(() => text() !== '')
    await new Promise((resolve) => setTimeout(resolve, 30))
    reader.destroy()
    await close()
    const lines = (await metrics.text()).split('\n')
    const figure = (name: string) => {
      const series = `pilotlight_http_request_duration_seconds_${name}{route="/api/v1/events",method="GET",status="200"} `
      return Number(lines.find((line) => line.startsWith(series))?.slice(series.length))
    }
    expect(figure('count')).toBe(1)
    expect(figure('sum')).toBeLessThan(0.03)
  })

  it('streams that are open do not keep the service from stopping', async () => {
    const { port, app } = await listen()
    const { reader } = await get(port, '/events')
    const ended = new Promise((resolve) => reader.once('close', resolve))
    await app.close()
    await ended
  })
})
