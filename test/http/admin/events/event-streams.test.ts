import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isServiceError } from '../../../../src/core/errors.ts'
import type { ServiceEvent } from '../../../../src/core/service-event.ts'
import {
  createEventStreams,
  type EventStreamsOptions,
} from '../../../../src/http/admin/events/event-streams.ts'
import { createServiceEventFeed, type ServiceFeed } from '../../../../src/runtime/feed.ts'
import { createManualTime, type ManualTime, settled } from '../../../fakes/manual-time.ts'

let feed: ServiceFeed
let time: ManualTime
let server: Server
let isGood: boolean
const readers: IncomingMessage[] = []
const responses: ServerResponse[] = []
let wants: (event: ServiceEvent) => boolean

beforeEach(() => {
  time = createManualTime()
  feed = createServiceEventFeed({ clock: time, epoch: 36, most: 64 })
  isGood = true
  wants = () => true
})
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.destroy()
  responses.length = 0
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function listen(options: Partial<EventStreamsOptions> = {}) {
  const streams = createEventStreams({ feed, clock: time, timers: time, ...options })
  server = createServer((request, response) => {
    responses.push(response)
    const url = new URL(request.url ?? '', 'http://localhost')
    const after = url.searchParams.get('after')
    const address = url.searchParams.get('address')
    try {
      streams.open({
        response,
        headers: { 'cache-control': 'no-store' },
        wants,
        mayRead: () => isGood,
        ...(after !== null && { after }),
        ...(address !== null && { address }),
      })
    } catch (error) {
      response.writeHead(isServiceError(error, 'RATE_LIMITED') ? 429 : 503).end(String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return streams
}

async function follow(query = ''): Promise<IncomingMessage & { readonly text: () => string }> {
  const { port } = server.address() as AddressInfo
  const reader = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', path: `/?${query}`, agent: false }, resolve)
      .on('error', reject)
      .end()
  })
  readers.push(reader)
  reader.on('error', () => {})
  let text = ''
  // Whoever listens reads; the deaf one leaves everything where it is.
  if (!query.includes('deaf')) {
    reader.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return Object.assign(reader, { text: () => text })
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !condition(); turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(condition()).toBe(true)
}

describe('an event stream', () => {
  it('begins with what is to come, how soon to return, and the place to return to', async () => {
    feed.publish('boot', () => ({ old: true }))
    await listen()
    const reader = await follow()
    expect(reader.statusCode).toBe(200)
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    feed.publish('boot', () => ({ host: 'rack1-n01' }))
    feed.publish('change', () => ({ text: 'line\r\nid: 7\n\ndata: x' }))
    await until(() => reader.text().includes('change'))
    expect(reader.text()).toBe(
      'retry: 2000\nid: 10-1\n\n' +
        'id: 10-2\nevent: boot\ndata: {"host":"rack1-n01"}\n\n' +
        'id: 10-3\nevent: change\ndata: {"text":"line\\r\\nid: 7\\n\\ndata: x"}\n\n',
    )
  })

  it('goes on after an id, and gives only what is wanted', async () => {
    wants = ({ type }) => type === 'change'
    await listen()
    for (const type of ['boot', 'change', 'boot', 'change', 'stream'] as const) feed.publish(type, () => ({}))
    const reader = await follow('after=10-2')
    await until(() => reader.text().includes('10-4'))
    expect(reader.text()).toBe('retry: 2000\n\nid: 10-4\nevent: change\ndata: {}\n\n')
  })

  it.each([
    ['an id of another run', 'after=zz-9'],
    ['an id that is none', `after=${encodeURIComponent('x\nid: evil')}`],
  ])('says that something is lost for %s, and gives what there is', async (_, query) => {
    feed.publish('boot', () => ({}))
    await listen()
    const reader = await follow(query)
    await until(() => reader.text().includes('10-1'))
    expect(reader.text()).toBe(
      'retry: 2000\n\nevent: gap\ndata: {"hint":"events before this are lost: ask for the state anew"}\n\n' +
        'id: 10-1\nevent: boot\ndata: {}\n\n',
    )
  })

  it('an unknown id is told once where there is nothing to give', async () => {
    await listen()
    const reader = await follow('after=zz-9')
    await until(() => reader.text().includes('gap'))
    feed.publish('boot', () => ({}))
    await until(() => reader.text().includes('10-1'))
    expect(reader.text().match(/gap/g)).toHaveLength(1)
  })

  it('a comment each 15 s, with the place, keeps a quiet connection open', async () => {
    wants = () => false
    await listen()
    const reader = await follow()
    feed.publish('boot', () => ({}))
    await settled()
    await time.advance(14_000)
    expect(reader.text()).toBe('retry: 2000\nid: 10-0\n\n')
    await time.advance(1_000)
    await until(() => reader.text().endsWith(': still here\nid: 10-1\n\n'))
  })

  it.each([
    ['with the next event', async () => void feed.publish('boot', () => ({ secret: 1 }))],
    ['within seconds where nothing happens', () => time.advance(5_000)],
  ])('ends %s when its credential counts no more, without it', async (_, happen) => {
    const streams = await listen()
    const reader = await follow()
    await time.advance(1_500)
    isGood = false
    const ended = new Promise((resolve) => reader.once('end', resolve))
    await happen()
    await ended
    expect(reader.text()).toContain(': the credential of this stream counts no more')
    expect(reader.text()).not.toContain('secret')
    expect(streams.count).toBe(0)
  })

  it('ends when the service stops, and no other begins', async () => {
    const streams = await listen()
    const reader = await follow()
    const ended = new Promise((resolve) => reader.once('end', resolve))
    streams.close()
    await ended
    expect(reader.text()).toContain(': the service is stopping')
    expect((await follow()).statusCode).toBe(503)
  })

  it('whoever does not read costs nothing, holds nobody up, misses what was overwritten and is dropped', async () => {
    feed = createServiceEventFeed({ clock: time, epoch: 36, most: 2_000 })
    const streams = await listen()
    const deaf = await follow('deaf')
    const good = await follow()
    const data = { text: 'x'.repeat(2_000) }
    for (let round = 1; round <= 100; round += 1) {
      for (let index = 0; index < 100; index += 1) feed.publish('boot', () => data)
      await until(() => good.text().includes(`id: ${feed.lastId}\n`))
    }
    const [unread] = responses
    expect(unread?.writableNeedDrain).toBe(true)
    expect(unread?.writableLength).toBeLessThan(200_000)
    expect(good.text()).not.toContain('gap')

    await time.advance(60_000)
    expect(streams.count).toBe(1)
    deaf.resume()
    await until(() => deaf.destroyed)
  })

  it('whoever reads again in time goes on, and is told what he missed', async () => {
    const streams = await listen()
    const slow = await follow('deaf')
    const data = { text: 'x'.repeat(50_000) }
    for (let index = 0; index < 1_000; index += 1) {
      feed.publish('boot', () => data)
      if (index % 10 === 0) await settled()
    }
    await time.advance(50_000)
    let text = ''
    slow.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    await until(() => text.includes(`id: ${feed.lastId}\n`))
    expect(text).toContain('event: gap\n')
    await time.advance(20_000)
    expect(streams.count).toBe(1)
  })
})

describe('too many streams', () => {
  it('of one address are refused, others are not, and room is made by those that end', async () => {
    const streams = await listen({ mostOfAddress: 2 })
    const first = await follow('address=a')
    await follow('address=a')
    expect((await follow('address=a')).statusCode).toBe(429)
    expect((await follow('address=b')).statusCode).toBe(200)
    expect((await follow()).statusCode).toBe(200)
    first.destroy()
    await until(() => streams.count === 3)
    expect((await follow('address=a')).statusCode).toBe(200)
  })

  it('in all are refused', async () => {
    const streams = await listen({ most: 2 })
    const first = await follow()
    await follow()
    expect((await follow()).statusCode).toBe(503)
    first.destroy()
    await until(() => streams.count === 1)
    expect((await follow()).statusCode).toBe(200)
  })

  it('10,000 that come and go leave no follower, no timer and no listener behind', async () => {
    let followers = 0
    const counted = {
      get lastId() {
        return feed.lastId
      },
      read: feed.read,
      follow(wake: () => void) {
        followers += 1
        const end = feed.follow(wake)
        return () => {
          followers -= 1
          end()
        }
      },
    }
    const streams = await listen({ feed: counted })
    const stays = await follow()
    for (let round = 0; round < 100; round += 1) {
      const some = await Promise.all(Array.from({ length: 100 }, () => follow()))
      expect(streams.count).toBe(101)
      expect(followers).toBe(1)
      expect(time.pending).toBe(1)
      for (const reader of some) reader.destroy()
      await until(() => streams.count === 1)
    }
    const [first, ...gone] = responses
    expect(gone).toHaveLength(10_000)
    expect(gone.every((response) => response.listenerCount('drain') === 0)).toBe(true)
    expect(first?.listenerCount('drain')).toBe(1)
    feed.publish('boot', () => ({}))
    await until(() => stays.text().includes('10-1'))
    stays.destroy()
    await until(() => streams.count === 0)
    expect([followers, time.pending]).toEqual([0, 0])
  }, 60_000)
})
