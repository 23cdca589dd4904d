import { lstat, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '../../../src/core/log.ts'
import { listenControlSocket, probeControlSocket } from '../../../src/http/admin/control-socket.ts'
import { type AdminApp, createAdminApp } from '../../../src/http/admin/create-admin-app.ts'
import { createMetrics } from '../../../src/telemetry/create-metrics.ts'
import { createFakeOperations } from '../../fakes/admin-operations.ts'
import { createManualTime } from '../../fakes/manual-time.ts'

let directory: string
let path: string
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pilotlight-control-'))
  path = join(directory, 'control.sock')
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(directory, { recursive: true, force: true })
})

function createTestApp(): AdminApp {
  const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
  const operations = createFakeOperations()
  return createAdminApp({
    operations,
    metrics,
    log: silentLog,
    version: '1',
    clock: { now: () => 0 },
    timers: createManualTime(),
    access: 'control',
  })
}

async function open() {
  const socket = await listenControlSocket({ app: createTestApp(), path })
  closers.push(() => socket.close())
  return socket
}

/** A socket file whose owner is gone, as `kill -9` leaves it. */
async function leaveStaleSocket(): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  // A hard link survives the unlink that closing does.
  const { link, rename } = await import('node:fs/promises')
  await link(path, `${path}.kept`)
  await new Promise((resolve) => server.close(resolve))
  await rename(`${path}.kept`, path)
}

test('the socket answers, is open to its owner alone, and the umask is as before', async () => {
  const umask = process.umask()
  await open()
  expect(process.umask()).toBe(umask)
  const { mode } = await stat(path)
  expect((mode & 0o777).toString(8)).toBe('600')
  const client = new Client('http://localhost', { socketPath: path })
  closers.push(() => client.close())
  const { statusCode, body } = await client.request({ path: '/livez', method: 'GET' })
  expect(statusCode).toBe(200)
  expect(await body.json()).toEqual({ alive: true, version: '1' })
})

test('closing removes the socket, also with a client connected, and may be done twice', async () => {
  const socket = await open()
  const client = new Client('http://localhost', { socketPath: path })
  closers.push(() => client.close())
  await (await client.request({ path: '/livez', method: 'GET' })).body.dump()
  await socket.close()
  await socket.close()
  expect(await lstat(path).catch(() => 'gone')).toBe('gone')
})

test('G7 a socket that a killed process left is replaced', async () => {
  await leaveStaleSocket()
  expect(await probeControlSocket(path)).toBe('stale')
  await open()
  expect(await probeControlSocket(path)).toBe('answers')
})

test('a socket that somebody answers on is left alone', async () => {
  await open()
  const second = createTestApp()
  closers.push(() => second.close())
  await expect(listenControlSocket({ app: second, path })).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_LOCKED',
  })
  expect(await probeControlSocket(path)).toBe('answers')
})

test('a file in the way is not removed', async () => {
  await writeFile(path, 'precious')
  await expect(open()).rejects.toMatchObject({ code: 'LISTEN_FAILED' })
  expect((await stat(path)).size).toBe(8)
})

test('a missing directory is an error with its cause', async () => {
  const app = createTestApp()
  closers.push(() => app.close())
  await expect(
    listenControlSocket({ app, path: join(directory, 'no', 'control.sock') }),
  ).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    cause: { code: expect.any(String) },
  })
})

test('a path that the kernel would cut is refused, not cut', async () => {
  const deep = join(directory, 'x'.repeat(60), 'y'.repeat(60))
  await mkdir(deep, { recursive: true })
  path = join(deep, 'control.sock')
  await expect(open()).rejects.toMatchObject({ code: 'LISTEN_FAILED', details: { hint: expect.any(String) } })
})

test('nothing there is absent, not an error', async () => {
  expect(await probeControlSocket(path)).toBe('absent')
  expect(await probeControlSocket(join(directory, 'no', 'control.sock'))).toBe('absent')
})
