import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createControlClient } from '../../src/cli/control-client.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { silentLog } from '../../src/core/log.ts'
import { listenControlSocket } from '../../src/http/admin/control-socket.ts'
import { createAdminApp } from '../../src/http/admin/create-admin-app.ts'
import type { AdminOperations } from '../../src/http/admin/operations.ts'
import type { OfflineOperations } from '../../src/runtime/service.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../fakes/admin-operations.ts'
import { createManualTime } from '../fakes/manual-time.ts'

let directory: string
let path: string
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-client-'))
  path = join(directory, 'control.sock')
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(directory, { recursive: true, force: true })
})

function connect(): OfflineOperations {
  const client = createControlClient({ path })
  closers.push(() => client.close())
  return client
}

async function serveOperations(answers: Partial<AdminOperations> = {}) {
  const operations = createFakeOperations(answers)
  const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
  const app = createAdminApp({
    operations,
    metrics,
    log: silentLog,
    version: '1',
    clock: { now: () => 0 },
    timers: createManualTime(),
    access: 'control',
  })
  const socket = await listenControlSocket({ app, path })
  closers.push(() => socket.close())
  return { operations, socket, client: connect().operations }
}

/** Something else at the other end of the socket. */
async function serveRaw(answer: (response: import('node:http').ServerResponse) => void): Promise<void> {
  const server: Server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
}

test('every operation arrives with its argument and comes back as it was', async () => {
  const { operations, client } = await serveOperations()
  const local = createFakeOperations()
  const query = { mac: '52:54:00:ab:cd:ef', arch: 'x86_64', platform: 'efi' } as const
  const document = { stream: 's', name: 'n.json', text: '{"a": "ü\u2028"}' }
  const all = (target: AdminOperations) => [
    target.readiness(),
    target.streams(),
    target.bootimages({ stream: 'fcos-stable', arch: 'x86_64' }),
    target.explain(query),
    target.render({ ...query, dialect: 'ipxe', template: 'install', baseUrl: 'http://192.0.2.1' }),
    target.sync({ streams: ['fcos-stable'] }),
    target.verify(),
    target.gc({ dryRun: true }),
    target.importDocument(document),
    target.reload(),
    target.webhooks(),
    target.testWebhook('ops/a b'),
  ]
  expect(await Promise.all(all(client))).toEqual(await Promise.all(all(local)))
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  expect(operations.calls.toSorted(byName)).toEqual(local.calls.toSorted(byName))
})

test('a service that is not ready is an answer, not an error', async () => {
  const notReady = { ready: false, parts: [{ part: 'state', ready: false, reason: 'gone' }] }
  const { client } = await serveOperations({ readiness: async () => notReady })
  expect(await client.readiness()).toEqual(notReady)
})

test('an error arrives as the ServiceError it was, with field and hint', async () => {
  const { client } = await serveOperations({
    explain: () =>
      Promise.reject(new ServiceError('NOT_FOUND', 'no host x', { field: 'host', hint: 'see hosts.d' })),
  })
  const error = await client.explain({ host: 'x' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ServiceError)
  expect(error).toMatchObject({
    code: 'NOT_FOUND',
    message: 'no host x',
    details: { field: 'host', hint: 'see hosts.d' },
  })
})

test('progress is answered while a long sync is going on', async () => {
  let finish = () => {}
  const { client } = await serveOperations({
    sync: () =>
      new Promise((resolve) => {
        finish = () => resolve({ streams: [] })
      }),
  })
  const syncing = client.sync({})
  expect(await client.bootimages({})).toHaveLength(1)
  finish()
  expect(await syncing).toEqual({ streams: [] })
})

describe('a service that goes away', () => {
  test('before the question is unavailable', async () => {
    const { socket, client } = await serveOperations()
    await socket.close()
    await expect(client.streams()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test('during the work is unavailable', async () => {
    await serveRaw((response) => response.destroy())
    await expect(connect().operations.sync({})).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining(path),
    })
  })
})

describe('something else at the socket', () => {
  test('that answers no JSON is unavailable', async () => {
    await serveRaw((response) => response.end('<html>'))
    await expect(connect().operations.streams()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test.each(['null', '{}', '{"code":"toString","message":5}'])(
    'that refuses with %s is an INTERNAL error',
    async (body) => {
      await serveRaw((response) => response.writeHead(500).end(body))
      await expect(connect().operations.streams()).rejects.toMatchObject({ code: 'INTERNAL' })
    },
  )

  const questions: readonly [string, (operations: AdminOperations) => Promise<unknown>][] = [
    ['readiness', (operations) => operations.readiness()],
    ['streams', (operations) => operations.streams()],
    ['bootimages', (operations) => operations.bootimages({})],
    ['loaders', (operations) => operations.loaders()],
    ['explain', (operations) => operations.explain({ host: 'x' })],
    ['render', (operations) => operations.render({ host: 'x', dialect: 'ipxe' })],
    ['sync', (operations) => operations.sync({})],
    ['verify', (operations) => operations.verify()],
    ['gc', (operations) => operations.gc({ dryRun: true })],
    ['importDocument', (operations) => operations.importDocument({ stream: 's', name: 'n', text: 't' })],
    ['reload', (operations) => operations.reload()],
    ['webhooks', (operations) => operations.webhooks()],
    ['testWebhook', (operations) => operations.testWebhook('ops')],
  ]

  test.each(questions)(
    'that answers %s with another shape is told as a stranger, not as a defect',
    async (_, ask) => {
      for (const answer of [
        null,
        7,
        [],
        {},
        { streams: 7, bootimages: [{}], parts: 'x', loaders: {}, script: 1 },
      ]) {
        const { client, close } = await askRaw((response) => response.end(JSON.stringify(answer)))
        await expect(ask(client), JSON.stringify(answer)).rejects.toMatchObject({
          code: 'SERVICE_UNAVAILABLE',
          message: expect.stringContaining('is no pilotlight that this command understands'),
          details: { hint: expect.stringContaining('same version') },
        })
        await close()
      }
    },
  )

  test('every field of an answer is looked at', async () => {
    const [good] = await createFakeOperations().bootimages({})
    for (const field of Object.keys(good ?? {})) {
      const bootimages = [{ ...good, [field]: { toString: 5 } }]
      const { client, close } = await askRaw((response) => response.end(JSON.stringify({ bootimages })))
      await expect(client.bootimages({}), field).rejects.toMatchObject({
        message: expect.stringContaining(`the answer.bootimages[0].${field} is not`),
      })
      await close()
    }
  })

  test('that answers without end is cut off', async () => {
    const { client, close } = await askRaw((response) => {
      const piece = Buffer.alloc(8 * 2 ** 20, ' ')
      const more = () => {
        if (!response.destroyed) response.write(piece, more)
      }
      response.on('error', () => {})
      more()
    })
    await expect(client.streams()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('more than 67108864 bytes'),
    })
    await close()
  })

  async function askRaw(answer: (response: import('node:http').ServerResponse) => void) {
    await serveRaw(answer)
    const client = connect()
    const ends = closers.splice(0).reverse()
    return {
      client: client.operations,
      async close() {
        for (const end of ends) await end()
      },
    }
  }
})
