import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import {
  samplePath,
  sampleReleaseDocument,
  sampleReleaseIndex,
  sampleReleasePath,
  sampleStreamDocument,
} from './sample-documents.ts'
import type { SampleRelease } from './sample-release.ts'

export interface SampleUpstream {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly streamUrl: string
  readonly releaseIndexUrl: string
  /** Armored public key that signs the sample artifacts. */
  readonly publicKey: string
  /** The stream document names this release from now on. */
  moveTo(release: string): void
  /** Answers everything with 503, as an upstream in trouble does. */
  setBroken(isBroken: boolean): void
  /** Artifact downloads answered so far, by path. */
  readonly served: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/** A small upstream on loopback with signed releases, a stream document and a release index. */
export async function startSampleUpstream(options: {
  readonly releases: readonly SampleRelease[]
  readonly current: string
  /** ISO 8601; goes into the documents. */
  readonly lastModified: string
}): Promise<SampleUpstream> {
  const { releases } = options
  const key = await generateKey({
    type: 'curve25519',
    userIDs: [{ name: 'Pilotlight sample signing key' }],
    format: 'armored',
  })
  const files = new Map<string, Buffer>()
  const documents = new Map<string, Buffer>()
  const served = new Map<string, number>()
  let current = options.current
  let broken = false

  const server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const signingKey = await readPrivateKey({ armoredKey: key.privateKey })
  for (const release of releases) {
    documents.set(sampleReleasePath(release.release), Buffer.from(sampleReleaseDocument(release, url)))
    for (const set of release.sets) {
      for (const file of [set.kernel, set.initramfs, set.rootfs]) {
        const path = samplePath(release.release, set.arch, file.name)
        files.set(path, file.bytes)
        const message = await createMessage({ binary: file.bytes })
        const signature = await sign({ message, signingKeys: signingKey, detached: true, format: 'binary' })
        files.set(`${path}.sig`, Buffer.from(signature as Uint8Array))
      }
    }
  }
  documents.set('/prod/streams/sample/releases.json', Buffer.from(sampleReleaseIndex(releases, url)))

  function streamDocument(): Buffer {
    const release = releases.find((candidate) => candidate.release === current)
    if (release === undefined) throw new Error(`no sample release ${current}`)
    return Buffer.from(sampleStreamDocument(release, url, options.lastModified))
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/'
    if (broken) {
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html>down for maintenance</html>')
      return
    }
    const body = path === '/streams/sample.json' ? streamDocument() : (documents.get(path) ?? files.get(path))
    if (body === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n')
      return
    }
    if (request.method === 'GET' && files.has(path)) served.set(path, (served.get(path) ?? 0) + 1)
    send(request, response, body)
  }

  return {
    url,
    streamUrl: `${url}/streams/sample.json`,
    releaseIndexUrl: `${url}/prod/streams/sample/releases.json`,
    publicKey: key.publicKey,
    moveTo(release) {
      current = release
      streamDocument()
    },
    setBroken(isBroken) {
      broken = isBroken
    },
    served,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Whole bodies with a strong tag, conditional requests and open-ended ranges: what a download resumes with. */
function send(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end()
    return
  }
  const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]
  const start = from === undefined || (request.headers['if-range'] ?? etag) !== etag ? 0 : Number(from)
  const part = body.subarray(start)
  const headers: Record<string, string | number> = {
    etag,
    'content-length': part.length,
    'accept-ranges': 'bytes',
  }
  if (start > 0) headers['content-range'] = `bytes ${start}-${body.length - 1}/${body.length}`
  response.writeHead(start > 0 ? 206 : 200, headers)
  response.end(request.method === 'HEAD' ? undefined : part)
}
