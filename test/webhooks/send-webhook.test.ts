import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Webhook } from '../../src/core/webhook.ts'
import { createWebhookSender, type WebhookSenderOptions } from '../../src/webhooks/send-webhook.ts'
import type { WebhookMessage } from '../../src/webhooks/webhook-queue.ts'

const secret = 'secret-of-many-characters'
const now = Date.parse('2026-11-30T10:00:00Z')
const message: WebhookMessage = { id: 'msg_1', type: 'test', at: now, body: '{"version":1,"data":"ü ☃"}' }
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Received {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function receive(answer: (response: ServerResponse) => void) {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method, url, headers } = request
      received.push({ method, url, headers, body: Buffer.concat(parts).toString() })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function sender(options: Partial<WebhookSenderOptions> = {}) {
  const made = createWebhookSender({
    upstream: {},
    userAgent: 'pilotlight/1.2.3',
    clock: { now: () => now },
    newSpanId: () => 'b'.repeat(16),
    ...options,
  })
  closers.push(() => made.close())
  return (url: string, sent: WebhookMessage = message) => {
    const webhook: Webhook = { name: 'a', url, secret, events: [] }
    return made.send(webhook, sent, new AbortController().signal)
  }
}

describe('one try', () => {
  it('arrives as a receiver checks it: signed over id, timestamp and the very bytes of the body', async () => {
    const { received, url } = await receive((response) => response.writeHead(204).end())
    const answer = await sender()(`${url}/hook/path?key=1`)
    expect(answer).toEqual({ kind: 'status', status: 204 })
    const [{ method, url: path, headers, body } = { headers: {}, body: '' }] = received
    expect([method, path, body]).toEqual(['POST', '/hook/path?key=1', message.body])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'pilotlight/1.2.3',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(now / 1000),
    })
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const expected = createHmac('sha256', secret).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
    expect(headers.traceparent).toBeUndefined()
  })

  it('carries the trace of what caused it, as a part of its own', async () => {
    const { received, url } = await receive((response) => response.end())
    await sender()(url, { ...message, trace: { traceId: 'a'.repeat(32), isSampled: true, state: 'x=1' } })
    expect(received[0]?.headers).toMatchObject({
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      tracestate: 'x=1',
    })
  })

  it('does not follow a redirect', async () => {
    const other = await receive((response) => response.end())
    const { url } = await receive((response) => response.writeHead(307, { location: other.url }).end())
    expect(await sender()(url)).toEqual({ kind: 'status', status: 307 })
    expect(other.received).toEqual([])
  })

  it('tells what Retry-After says', async () => {
    const { url } = await receive((response) => response.writeHead(503, { 'retry-after': '7' }).end())
    expect(await sender()(url)).toEqual({ kind: 'status', status: 503, retryAfter: '7' })
  })

  it('does not wait for an answer that has no end, and reads little of one', async () => {
    let written = 0
    let isClosed = false
    const { url } = await receive((response) => {
      response.on('close', () => {
        isClosed = true
      })
      response.writeHead(200)
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536
      }
      response.on('drain', pour)
      pour()
    })
    expect(await sender()(url)).toEqual({ kind: 'status', status: 200 })
    await expect.poll(() => isClosed).toBe(true)
    expect(written).toBeLessThan(32 * 2 ** 20)
  })

  it.each([
    ['never answers', () => {}, 'no answer within 0.2 s'],
    ['hangs up', (response: ServerResponse) => response.destroy(), 'other side closed (UND_ERR_SOCKET)'],
  ])('to a receiver that %s has failed', async (_, behave, why) => {
    const { url } = await receive(behave)
    expect(await sender({ timeoutMs: 200 })(url)).toEqual({ kind: 'failed', why })
  })

  it('to nobody says why, without the URL', async () => {
    const answer = await sender()('http://127.0.0.1:1/?key=hidden')
    expect(answer).toMatchObject({ kind: 'failed', why: expect.stringContaining('ECONNREFUSED') })
    expect(JSON.stringify(answer)).not.toContain('hidden')
  })
})

describe('field case 163: addresses that are no receiver', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://0.0.0.0/',
    'http://224.0.0.1/',
  ])('%s is not asked', async (url) => {
    expect(await sender()(url)).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/ is a (?:link-local|unspecified|multicast) address$/),
    })
  })

  it('nor is a name that has one, whatever it had before', async () => {
    const resolve: WebhookSenderOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: '169.254.169.254', family: 4 }])
    expect(await sender({ resolve })('http://metadata.example/')).toEqual({
      kind: 'failed',
      why: 'metadata.example has the link-local address 169.254.169.254',
    })
  })

  it('this machine and private networks are fine, because an admin wrote the URL', async () => {
    const { url } = await receive((response) => response.end())
    const { port } = new URL(url)
    const resolve: WebhookSenderOptions['resolve'] = (_, __, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    expect(await sender({ resolve })(`http://receiver.example:${port}/`)).toMatchObject({ status: 200 })
  })
})
