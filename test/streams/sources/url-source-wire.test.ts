import { createServer, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/streams/parse-document.ts'
import { createSource } from '../../../src/streams/sources/create-source.ts'
import type { MetadataSource, Validators } from '../../../src/streams/sources/source.ts'
import type { UpstreamClient } from '../../../src/upstream/client.ts'
import { createUpstreamClient } from '../../../src/upstream/create-upstream-client.ts'
import { bytesOf, streamDocument } from '../../fixtures/streams/documents.ts'

const body = bytesOf(streamDocument())

/** Says literally what it is told to a real client, then closes, or leaves the connection open. */
class LiteralServer {
  readonly #server: Server
  readonly requests: string[] = []
  reply: { readonly head: string; readonly body?: Uint8Array; readonly staysOpen?: boolean } = { head: '' }

  constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (request) => {
        this.requests.push(request.toString('latin1'))
        socket.write(`${this.reply.head.replaceAll('\n', '\r\n')}\r\n\r\n`)
        if (this.reply.body !== undefined) socket.write(this.reply.body)
        if (this.reply.staysOpen !== true) socket.end()
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  }

  close(): void {
    this.#server.close()
  }
}

describe('a source over http, with the real client', () => {
  let server: LiteralServer
  let client: UpstreamClient
  let source: MetadataSource
  let origin: string

  beforeEach(async () => {
    server = new LiteralServer()
    origin = await server.listen()
    client = createUpstreamClient({ allowedOrigins: [origin], stallTimeoutMs: 300 })
    source = createSource({ kind: 'url', url: `${origin}/streams/stable.json`, client })
  })

  afterEach(async () => {
    await client.close()
    server.close()
  })

  const fetched = (since?: Validators) => source.fetch({ read: parseMetadata, ...(since && { since }) })

  it('a whole document is read, and asked for again with its validator', async () => {
    server.reply = { head: `HTTP/1.1 200 OK\nETag: "1"\nContent-Length: ${body.length}`, body }
    const answer = await fetched()
    if (answer.kind !== 'document') throw new Error('no document')
    expect(answer.document.architectures.size).toBe(2)
    server.reply = { head: 'HTTP/1.1 304 Not Modified\nETag: "1"' }
    expect((await fetched(answer.validators)).kind).toBe('unchanged')
    expect(server.requests[1]).toMatch(/if-none-match: "1"/i)
    expect(server.requests[1]).toMatch(/accept-encoding: identity/i)
  })

  it.each<[string, LiteralServer['reply'], string]>([
    [
      'HTML with status 200',
      { head: 'HTTP/1.1 200 OK\nContent-Type: text/html', body: bytesOf('<html>') },
      'METADATA_INVALID',
    ],
    ['zero bytes with status 200', { head: 'HTTP/1.1 200 OK\nContent-Length: 0' }, 'METADATA_INVALID'],
    [
      'a short body',
      { head: `HTTP/1.1 200 OK\nContent-Length: ${body.length + 10}`, body },
      'METADATA_UNAVAILABLE',
    ],
    [
      'a body cut off without a length',
      { head: 'HTTP/1.1 200 OK', body: body.slice(0, 1000) },
      'METADATA_INVALID',
    ],
    [
      'a body that is longer than announced and so cut in the middle',
      { head: 'HTTP/1.1 200 OK\nContent-Length: 1000', body },
      'METADATA_INVALID',
    ],
    ['no HTTP at all', { head: 'SSH-2.0-OpenSSH_9.6' }, 'METADATA_UNAVAILABLE'],
    ['nothing, and the connection stays open', { head: '', staysOpen: true }, 'METADATA_UNAVAILABLE'],
    [
      'half a body, and the connection stays open',
      { head: `HTTP/1.1 200 OK\nContent-Length: ${body.length}`, body: body.slice(0, 1000), staysOpen: true },
      'METADATA_UNAVAILABLE',
    ],
    [
      'a redirect to an address inside',
      { head: 'HTTP/1.1 302 Found\nLocation: http://169.254.169.254/latest/meta-data\nContent-Length: 0' },
      'METADATA_UNAVAILABLE',
    ],
    [
      'a redirect to another service on this machine',
      { head: 'HTTP/1.1 302 Found\nLocation: http://127.0.0.1:1/\nContent-Length: 0' },
      'METADATA_UNAVAILABLE',
    ],
    [
      'a redirect to itself',
      { head: 'HTTP/1.1 302 Found\nLocation: /streams/stable.json\nContent-Length: 0' },
      'METADATA_UNAVAILABLE',
    ],
  ])('G4 %s is a failure that names the URL', async (_, reply, code) => {
    server.reply = reply
    await expect(fetched()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`${origin}/streams/stable.json: `),
    })
  })
})
