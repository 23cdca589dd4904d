import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Followed } from '../../src/cli/follow.ts'
import { createFollow } from '../../src/cli/follow-service.ts'
import { silentLog } from '../../src/core/log.ts'
import { type ControlSocket, listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import { createServiceEventFeed, type ServiceFeed } from '../../src/runtime/feed.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let directory: string
let path: string
let control: ControlSocket | undefined
let strange: Server | undefined
let ended: AbortController
const time = createManualTime()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-follow-'))
  path = join(directory, 'control.sock')
  ended = new AbortController()
})
afterEach(async () => {
  ended.abort()
  await control?.close()
  strange?.closeAllConnections()
  strange?.close()
  control = undefined
  strange = undefined
  await rm(directory, { recursive: true, force: true })
})

/** A run of the service. */
async function start(epoch: number): Promise<ServiceFeed> {
  const feed = createServiceEventFeed({ clock: time, epoch, most: 4 })
  const operations = createFakeOperations({ events: feed })
  const metrics = createMetrics({ version: '1', clock: time, withProcess: false })
  const shared = { operations, metrics, log: silentLog, version: '1', clock: time, timers: time }
  control = await listenControlSocket({ app: createAdminApp({ ...shared, access: 'control' }), path })
  return feed
}

function follow(after?: string) {
  const pauses: number[] = []
  const follow = createFollow({
    path,
    closed: new AbortController().signal,
    now: () => 7,
    // A pause is one look at whether there is something to do.
    sleep: (ms, signal) => {
      pauses.push(ms)
      return setTimeout(1, undefined, { signal }).catch(() => undefined)
    },
  })
  const given = { types: ['boot', 'change'] as const, signal: ended.signal }
  const followed = follow({ ...given, ...(after !== undefined && { after }) })[Symbol.asyncIterator]()
  return {
    pauses,
    async next(): Promise<Followed | undefined> {
      const { value, done } = await followed.next()
      return done === true ? undefined : value
    },
  }
}

const event = (id: string, data: string, type = 'boot') => ({
  kind: 'event',
  event: { id, type, at: 7, data },
})

describe('following a service', () => {
  it('begins with a gap once it listens, so that nothing is missed between a look and the first event', async () => {
    const feed = await start(36)
    feed.publish('boot', () => ({ n: 1 }))
    const { next } = follow()
    expect(await next()).toEqual({ kind: 'gap' })
    feed.publish('boot', () => ({ n: 2 }))
    feed.publish('stream', () => ({ n: 3 }))
    feed.publish('change', () => ({ n: 4 }))
    expect(await next()).toEqual(event('10-2', '{"n":2}'))
    expect(await next()).toEqual(event('10-4', '{"n":4}', 'change'))
  })

  it('goes on after an event, without a gap', async () => {
    const feed = await start(36)
    for (const n of [1, 2, 3]) feed.publish('boot', () => ({ n }))
    const { next } = follow('10-2')
    expect(await next()).toEqual(event('10-3', '{"n":3}'))
  })

  it('says once that the service is gone, tries ever more seldom, and tells what a restart made unknown', async () => {
    const feed = await start(36)
    const { next, pauses } = follow()
    await next()
    feed.publish('boot', () => ({ n: 1 }))
    expect(await next()).toEqual(event('10-1', '{"n":1}'))
    await control?.close()
    expect(await next()).toMatchObject({ kind: 'lost', why: expect.stringContaining(path) })
    const resumed = next()
    while (pauses.length < 8) await setTimeout(1)
    const again = await start(37)
    again.publish('boot', () => ({ n: 2 }))
    expect(await resumed).toEqual({ kind: 'resumed' })
    expect(await next()).toEqual({ kind: 'gap' })
    expect(await next()).toEqual(event('11-1', '{"n":2}'))
    expect(pauses.slice(0, 7)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
  })

  it('ends when it is told to, while it waits for an event and while it waits for the service', async () => {
    await start(36)
    const listening = follow()
    await listening.next()
    const last = listening.next()
    ended.abort()
    expect(await last).toBeUndefined()

    ended = new AbortController()
    await control?.close()
    const waiting = follow()
    expect(await waiting.next()).toMatchObject({ kind: 'lost' })
    const end = waiting.next()
    ended.abort()
    expect(await end).toBeUndefined()
  })

  it.each([
    ['speaks another language', { status: 200, type: 'text/html', body: '<p>' }, 'INTERNAL'],
    [
      'refuses it',
      { status: 400, type: 'application/json', body: '{"code":"USAGE","message":"no"}' },
      'USAGE',
    ],
    ['has no such URL', { status: 404, type: 'application/json', body: '{"code":"NOT_FOUND"}' }, 'NOT_FOUND'],
  ])('fails for good when what answers %s', async (_, { status, type, body }, code) => {
    strange = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    await new Promise<void>((resolve) => strange?.listen(path, resolve))
    await expect(follow().next()).rejects.toMatchObject({ code })
  })

  it('waits where there are too many that follow', async () => {
    let isFull = true
    strange = createServer((_request, response) => {
      if (isFull) {
        response.writeHead(503).end('{"code":"SERVICE_UNAVAILABLE","message":"256 event streams are open"}')
      } else {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 10-0\n\n')
      }
    })
    await new Promise<void>((resolve) => strange?.listen(path, resolve))
    const { next } = follow()
    expect(await next()).toEqual({ kind: 'lost', why: '256 event streams are open' })
    isFull = false
    expect(await next()).toEqual({ kind: 'resumed' })
    expect(await next()).toEqual({ kind: 'gap' })
  })
})
