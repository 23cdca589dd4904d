import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebhookSummary, WebhookTest } from '../../src/http/admin/operations.ts'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260601.3.0'
const nextRelease = '44.20260707.3.1'
const mac = '52:54:00:00:00:07'
const secret = 'a secret of many characters'.replaceAll(' ', '-')

interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every event
  readonly message: any
}

let site: UpstreamSite
let service: RunningService
let receiver: Server
let folder: string
let token: string
const deliveries: Delivery[] = []
/** What the receiver answers next; 204 when there is nothing. */
const statuses: number[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pilotlight-hooks-'))
  receiver = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      deliveries.push({ headers: request.headers, body, message: JSON.parse(body) })
      response.writeHead(statuses.shift() ?? 204).end()
    })
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  const { port } = receiver.address() as AddressInfo
  const secretFile = join(folder, 'ops.secret')
  await writeFile(secretFile, `${secret}\n`)
  await chmod(secretFile, 0o600)
  site = await startUpstreamSite({
    releases: [release, nextRelease],
    sizes: { kernelBytes: 8 << 10, initramfsBytes: 8 << 10, rootfsBytes: 16 << 10 },
  })
  service = await startRunningService({
    site,
    hosts: [{ id: 'rack1-n07', macs: [mac], profile: 'worker' }],
    config: {
      webhooks: [
        {
          name: 'ops',
          url: `http://127.0.0.1:${port}/hook`,
          secretFile,
          events: ['boot.over', 'stream.changed', 'change.made'],
        },
      ],
    },
  })
  await untilCurrent(service, release)
  const made = await service.control<{ secret: string }>('/api/v1/tokens', {
    name: 'follower',
    role: 'write',
  })
  token = made.secret
}, 60_000)
afterAll(async () => {
  await service?.remove()
  await site?.stop()
  receiver?.closeAllConnections()
  receiver?.close()
  await rm(folder, { recursive: true, force: true })
})

async function follow(query: string, headers: Readonly<Record<string, string>> = {}) {
  const url = new URL(`/api/v1/events?${query}`, service.adminUrl)
  let text = ''
  const request = httpRequest(url, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    agent: false,
  })
  await new Promise<void>((answered, failed) => {
    request.on('response', (response) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', () => {})
      answered()
    })
    request.on('error', failed).end()
  })
  return {
    text: () => text,
    until: (words: string) =>
      eventually(
        async () => text,
        (found) => found.includes(words),
      ),
    stop: () => request.destroy(),
  }
}

describe('a running service', () => {
  it('tells of a boot while it goes on, to whoever follows that host, and goes on after a lost connection', async () => {
    const stream = await follow('types=boot&host=rack1-n07')
    await service.boot({ mac })
    await stream.until('"host":"rack1-n07"')
    const [, id = ''] = /^id: (\S+)\nevent: boot$/m.exec(stream.text()) ?? []
    stream.stop()
    const again = await follow('types=boot', { 'last-event-id': id })
    await service.boot({ mac })
    await again.until('event: boot')
    expect(again.text()).not.toContain('event: gap')
    again.stop()
  })

  it('tells of a change once it is on disk, with the trace of its request', async () => {
    const stream = await follow('types=change')
    const traceId = 'c'.repeat(32)
    const answer = await fetch(`${service.adminUrl}/api/v1/modes`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${'d'.repeat(16)}-01`,
        tracestate: 'vendor=opaque',
      },
      body: JSON.stringify({
        target: { kind: 'host', name: 'rack1-n07' },
        mode: 'local',
        reason: 'to see it',
      }),
    })
    expect(answer.status).toBe(204)
    await stream.until('mode.set')
    expect(stream.text()).toContain('"target":"host/rack1-n07"')
    expect(stream.text()).not.toContain(token)
    stream.stop()
    const deliveriesOfChange = await eventually(
      async () => deliveries.filter(({ message }) => message.data.action === 'mode.set'),
      (found) => found.length > 0,
    )
    expect(deliveriesOfChange[0]?.headers).toMatchObject({
      traceparent: expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`)),
      tracestate: 'vendor=opaque',
    })
    const line = service.log().find(({ msg, action }) => msg === 'change made' && action === 'mode.set')
    expect(line).toMatchObject({
      level: 'info',
      target: 'host/rack1-n07',
      by: 'token follower',
      trace: traceId,
    })
  })

  it('asks upstream as a part of the trace of the request that wants it, and of none by itself', async () => {
    const seen: (string | undefined)[] = []
    const stopLooking = site.disturb(
      (path) => path.startsWith('/streams/'),
      (request, _, asUsual) => {
        seen.push(request.headers.traceparent?.toString())
        asUsual()
      },
    )
    const traceId = 'e'.repeat(32)
    const sync = (headers: Readonly<Record<string, string>>) =>
      fetch(`${service.adminUrl}/api/v1/sync`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: '{}',
      })
    await sync({ traceparent: `00-${traceId}-${'d'.repeat(16)}-01` })
    await sync({})
    await sync({ traceparent: `00-${traceId.toUpperCase()}-${'d'.repeat(16)}-01` })
    stopLooking()
    expect(seen).toEqual([expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`), undefined, undefined])
  })

  it('fetches a release as a part of the trace of the request that brought it', async () => {
    const seen: (string | undefined)[] = []
    const stopLooking = site.disturb(
      (path) => path === site.pathOf(nextRelease, 'rootfs'),
      (request, _, asUsual) => {
        seen.push(request.headers.traceparent?.toString())
        asUsual()
      },
    )
    const traceId = 'f'.repeat(32)
    site.moveTo(nextRelease)
    await fetch(`${service.adminUrl}/api/v1/sync`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-${'d'.repeat(16)}-01`,
      },
      body: '{}',
    })
    stopLooking()
    expect(await service.current()).toBe(nextRelease)
    // One asks for its size, one for the file.
    const traced = expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`)
    expect(seen).toEqual([traced, traced])
    expect(new Set(seen).size).toBe(2)
  })

  it('signs what it sends, so that the line of the README finds the same signature', async () => {
    // What was current when it began to look is no news, or is, as it starts up faster or slower.
    const [{ headers, body, message } = { headers: {}, body: '', message: {} }] = await eventually(
      async () => deliveries.filter((delivery) => delivery.message.data.current === nextRelease),
      (found) => found.length > 0,
    )
    expect(message).toMatchObject({
      version: 1,
      type: 'stream.changed',
      data: { stream: 'sample', arch: 'x86_64', current: nextRelease },
    })
    const id = String(headers['webhook-id'])
    const timestamp = String(headers['webhook-timestamp'])
    const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
    expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(60)

    await writeFile(join(folder, 'body'), body)
    const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8')
    const line = readme.split('\n').find((text) => text.includes('openssl dgst -sha256 -hmac')) ?? ''
    const printed = await new Promise<string>((done, failed) => {
      const env = { PATH: process.env.PATH, id, timestamp }
      execFile('/bin/sh', ['-c', line], { cwd: folder, env }, (error, stdout) =>
        error === null ? done(stdout) : failed(error),
      )
    })
    expect(printed.trim()).toBe(headers['webhook-signature'])
  })

  it('sends a test message at once, tells what came of it, and lists how it fares', async () => {
    expect(await service.control<WebhookTest>('/api/v1/webhooks/ops/test')).toEqual({
      isDelivered: true,
      status: 204,
    })
    statuses.push(500)
    expect(await service.control<WebhookTest>('/api/v1/webhooks/ops/test')).toEqual({
      isDelivered: false,
      status: 500,
    })
    const { webhooks } = await service.api<{ webhooks: readonly WebhookSummary[] }>('/api/v1/webhooks')
    expect(webhooks).toEqual([
      expect.objectContaining({ name: 'ops', state: 'good', waiting: 0, dropped: 0 }),
    ])
    const said = JSON.stringify([webhooks, service.log()])
    expect(said).not.toContain(secret)
    expect(said).not.toContain('/hook')
  })

  it('tells what a restart made unknown', async () => {
    const stream = await follow('types=change')
    await stream.until('id: ')
    const [, id = ''] = /^id: (\S+)$/m.exec(stream.text()) ?? []
    await service.restart('SIGTERM')
    const again = await follow('types=change', { 'last-event-id': id })
    await again.until('event: gap')
    again.stop()
  })
})
