import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arch } from '../../src/core/arch.ts'
import {
  samplePath,
  sampleReleaseDocument,
  sampleReleaseIndex,
  sampleReleasePath,
  sampleStreamDocument,
} from '../../src/runtime/demo/sample-documents.ts'
import {
  makeSampleRelease,
  type SampleRelease,
  type SampleSet,
  type SampleSizes,
} from '../../src/runtime/demo/sample-release.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly range?: string
}

/** Answers in place of the site; `asUsual` gives what it would have answered. */
export type Disturbance = (request: IncomingMessage, response: ServerResponse, asUsual: () => void) => void

/** An upstream that misbehaves as the test says: a real HTTP server on loopback with sample releases. */
export interface UpstreamSite {
  readonly origin: string
  readonly streamUrl: string
  readonly releaseIndexUrl: string
  readonly releases: readonly SampleRelease[]
  /** Every request, oldest first. */
  readonly requests: readonly SeenRequest[]
  /** The stream document names this release from now on. */
  moveTo(release: string): void
  /** Puts other bytes at a path, or `undefined` to take it away. */
  publish(path: string, bytes: Buffer | string | undefined): void
  /** Paths that `isConcerned` are answered by `answer` until the returned function is called. */
  disturb(isConcerned: (path: string) => boolean, answer: Disturbance): () => void
  /** The tag that a body is sent with. */
  etagOf(body: Buffer): string
  /** GETs of a path so far. */
  gets(path: string): number
  /** The files of a release for one architecture, x86_64 unless told otherwise. */
  set(release: string, arch?: Arch): SampleSet
  /** The path of one file of a release. */
  pathOf(release: string, file: 'kernel' | 'initramfs' | 'rootfs', arch?: Arch): string
  /** Refuses connections, as a host that is down does. */
  goAway(): Promise<void>
  /** The same address again. */
  comeBack(): Promise<void>
  stop(): Promise<void>
}

export const streamPath = '/streams/sample.json'
export const releaseIndexPath = '/prod/streams/sample/releases.json'

/** Large enough to be sent in several pieces, small enough for dozens of them. */
export const smallSizes: SampleSizes = {
  kernelBytes: 64 << 10,
  initramfsBytes: 160 << 10,
  rootfsBytes: 400 << 10,
}

export async function startUpstreamSite(options: {
  readonly releases: readonly (string | SampleRelease)[]
  /** Default: the first. */
  readonly current?: string
  readonly arches?: readonly Arch[]
  readonly sizes?: SampleSizes
}): Promise<UpstreamSite> {
  const { arches = ['x86_64'], sizes = smallSizes } = options
  const releases = options.releases.map((release) =>
    typeof release === 'string' ? makeSampleRelease(release, arches, sizes) : release,
  )
  const requests: SeenRequest[] = []
  const bodies = new Map<string, Buffer>()
  const disturbances = new Set<{ isConcerned: (path: string) => boolean; answer: Disturbance }>()

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '/' } = request
    const { range } = request.headers
    requests.push({ method, path, ...(range !== undefined && { range }) })
    response.on('error', () => {})
    const asUsual = () => sendBody(request, response, bodies.get(path))
    const disturbance = [...disturbances].findLast(({ isConcerned }) => isConcerned(path))
    if (disturbance === undefined) asUsual()
    else disturbance.answer(request, response, asUsual)
  }

  let server = await listen(0, answer)
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`

  function releaseOf(name: string): SampleRelease {
    const found = releases.find(({ release }) => release === name)
    if (found === undefined) throw new Error(`the site has no release ${name}`)
    return found
  }

  function setOf(release: string, arch: Arch = 'x86_64'): SampleSet {
    const found = releaseOf(release).sets.find((candidate) => candidate.arch === arch)
    if (found === undefined) throw new Error(`${release} has no ${arch}`)
    return found
  }

  function moveTo(release: string): void {
    const document = sampleStreamDocument(releaseOf(release), origin, '2026-07-08T12:00:00Z')
    bodies.set(streamPath, Buffer.from(document))
  }

  async function goAway(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  for (const release of releases) {
    bodies.set(sampleReleasePath(release.release), Buffer.from(sampleReleaseDocument(release, origin)))
    for (const set of release.sets) {
      for (const file of [set.kernel, set.initramfs, set.rootfs]) {
        bodies.set(samplePath(release.release, set.arch, file.name), file.bytes)
      }
    }
  }
  bodies.set(releaseIndexPath, Buffer.from(sampleReleaseIndex(releases, origin)))
  moveTo(options.current ?? releases[0]?.release ?? '')

  return {
    origin,
    streamUrl: `${origin}${streamPath}`,
    releaseIndexUrl: `${origin}${releaseIndexPath}`,
    releases,
    requests,
    moveTo,
    publish(path, bytes) {
      if (bytes === undefined) bodies.delete(path)
      else bodies.set(path, Buffer.from(bytes))
    },
    disturb(isConcerned, answerInstead) {
      const disturbance = { isConcerned, answer: answerInstead }
      disturbances.add(disturbance)
      return () => void disturbances.delete(disturbance)
    },
    etagOf,
    gets: (path) => requests.filter((seen) => seen.method === 'GET' && seen.path === path).length,
    set: setOf,
    pathOf: (release, file, arch = 'x86_64') => samplePath(release, arch, setOf(release, arch)[file].name),
    goAway,
    async comeBack() {
      server = await listen(port, answer)
    },
    stop: () => (server.listening ? goAway() : Promise.resolve()),
  }
}

function listen(
  port: number,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = createServer(answer)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`
}

/** Whole bodies with a strong tag, conditional requests and open-ended ranges: what a download resumes with. */
function sendBody(request: IncomingMessage, response: ServerResponse, body: Buffer | undefined): void {
  if (body === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n')
    return
  }
  const etag = etagOf(body)
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end()
    return
  }
  const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]
  const start = from === undefined || (request.headers['if-range'] ?? etag) !== etag ? 0 : Number(from)
  const part = body.subarray(start)
  response.writeHead(start > 0 ? 206 : 200, {
    etag,
    'content-length': part.length,
    ...(start > 0 && { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` }),
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}
