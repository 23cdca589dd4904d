import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { type Disturbance, startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
let site: UpstreamSite
let service: RunningService
let restore = () => {}
/** A place on this machine that no configuration names; what comes there is counted. */
let forbidden: { readonly url: string; asked: number; close(): void }

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [older, newer] })
  service = await startRunningService({ site })
  await untilCurrent(service, older)
  const server = createServer((_, response) => {
    forbidden.asked += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  forbidden = { url: `http://127.0.0.1:${port}/inside`, asked: 0, close: () => server.close() }
})
afterAll(async () => {
  forbidden?.close()
  await service?.remove()
  await site?.stop()
})
afterEach(() => restore())

const page = '<!DOCTYPE html><html><body>Please log in to the portal.</body></html>'

function answering(status: number, headers: Record<string, string>, body: string | Buffer = ''): Disturbance {
  return (_, response) => response.writeHead(status, headers).end(body)
}

/** What the site would have sent, announced whole and cut in the middle. */
const cut: Disturbance = (request, response) => {
  const body = Buffer.from('{"stream": "sample", "architectures": {')
  response.writeHead(200, { 'content-length': body.length * 2 })
  if (request.method === 'HEAD') response.end()
  else response.write(body, () => response.destroy())
}

/** One byte, and then nothing for as long as the other side stays. */
const stalled: Disturbance = (_, response) => {
  response.writeHead(200, { 'content-length': 100_000 })
  response.write('{')
}

const troubles: readonly (readonly [what: string, answer: () => Disturbance, error: RegExp])[] = [
  ['403', () => answering(403, {}, 'forbidden'), /status 403/],
  ['404', () => answering(404, { 'content-type': 'text/html' }, page), /status 404/],
  ['503 with a web page', () => answering(503, { 'content-type': 'text/html' }, page), /status 503/],
  [
    '200 with a web page',
    () => answering(200, { 'content-type': 'text/html' }, page),
    /the document is an HTML page/,
  ],
  ['200 with zero bytes', () => answering(200, {}), /the document is empty/],
  [
    '200 with JSON of something else',
    () => answering(200, {}, '{"message":"ok"}'),
    /expected a stream document/,
  ],
  ['200 with an array', () => answering(200, {}, '[]'), /found an array/],
  ['a body that is cut off', () => cut, /broke off after 39 bytes/],
  ['a redirect loop', () => answering(302, { location: `${site.origin}${streamPath}` }), /in a circle/],
  [
    'a redirect to this machine that nobody allowed',
    () => answering(302, { location: forbidden.url }),
    /is a loopback address/,
  ],
  ['a redirect to a file', () => answering(302, { location: 'file:///etc/passwd' }), /its target is file:/],
]

describe('G4 whatever upstream does to the metadata, what is served and decided stays', () => {
  beforeEach(() => site.moveTo(newer))

  it.each(troubles)('G4 %s', async (_, answer, error) => {
    const askedBefore = forbidden.asked
    const [before] = await service.streams()
    restore = site.disturb((path) => path === streamPath, answer())
    const report = await service.sync()
    expect(report.streams[0]).toMatchObject({ name: 'sample', outcome: 'failed' })
    await expectUnmoved(before?.lastSuccessAt, error)
    expect(forbidden.asked).toBe(askedBefore)
  })

  it('G4 connection refused', async () => {
    const [before] = await service.streams()
    restore = () => void site.comeBack()
    await site.goAway()
    await service.sync()
    await expectUnmoved(before?.lastSuccessAt, /ECONNREFUSED|refused/)
  })

  it('G4 an answer that never ends holds up neither boots nor readiness', async () => {
    const [before] = await service.streams()
    restore = site.disturb((path) => path === streamPath, stalled)
    const asked = site.requests.length
    const sync = service.sync()
    await eventually(
      async () => site.requests.length,
      (count) => count > asked,
    )
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
    expect((await service.readiness()).status).toBe(200)
    expect((await service.streams())[0]?.lastSuccessAt).toBe(before?.lastSuccessAt)
    await site.goAway()
    await site.comeBack()
    expect((await sync).streams[0]?.outcome).toBe('failed')
  })

  /** Boots, decisions and files are those of the last good state; its age and the error can be seen. */
  async function expectUnmoved(lastSuccessAt: string | undefined, error: RegExp): Promise<void> {
    const [stream] = await service.streams()
    expect(stream?.lastSuccessAt).toBe(lastSuccessAt)
    expect(stream?.error?.message).toMatch(error)
    expect(stream?.error?.code).toMatch(/^METADATA_|^UPSTREAM_/)
    expect(Date.parse(stream?.failingSince ?? '')).toBeGreaterThanOrEqual(Date.parse(lastSuccessAt ?? ''))
    expect(stream?.architectures[0]).toMatchObject({ current: older, previous: [] })

    const readiness = await service.readiness()
    expect([readiness.status, readiness.ready]).toEqual([200, true])
    const part = readiness.parts.find((candidate) => candidate.part === 'stream:sample')
    expect(part?.reason).toMatch(error)
    expect(part?.reason).toContain(`not refreshed since ${stream?.failingSince}`)

    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^pilotlight_stream_age_seconds\{stream="sample"\} \d/m)
    expect((await service.explain({ mac: unknownMac, arch: 'x86_64' })).release).toBe(older)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
  }
})

describe('G4 whatever upstream does to a file of a new release, the old one is served', () => {
  const isRootfs = (path: string) => path === site.pathOf(newer, 'rootfs')
  const rootfs = () => site.set(newer).rootfs.bytes

  const fileTroubles: readonly (readonly [what: string, answer: () => Disturbance, code: string])[] = [
    ['403', () => answering(403, {}, 'forbidden'), 'ARTIFACT_UNAVAILABLE'],
    [
      '200 with a web page',
      () => answering(200, { 'content-type': 'text/html' }, page),
      'ARTIFACT_DIGEST_MISMATCH',
    ],
    ['200 with zero bytes', () => answering(200, {}), 'ARTIFACT_EMPTY'],
    [
      'a short body with a right length',
      () => answering(200, {}, rootfs().subarray(0, 1000)),
      'ARTIFACT_DIGEST_MISMATCH',
    ],
    [
      'a long body',
      () => answering(200, {}, Buffer.concat([rootfs(), rootfs()])),
      'ARTIFACT_DIGEST_MISMATCH',
    ],
    [
      'a redirect loop',
      () => (request, response) => response.writeHead(302, { location: request.url ?? '' }).end(),
      'UPSTREAM_REFUSED',
    ],
    [
      'a redirect to this machine that nobody allowed',
      () => answering(302, { location: forbidden.url }),
      'UPSTREAM_REFUSED',
    ],
    [
      'content that switches between HEAD and GET',
      () => (request, response) => {
        const body = request.method === 'HEAD' ? rootfs() : site.set(older).rootfs.bytes
        response
          .writeHead(200, { 'content-length': body.length })
          .end(request.method === 'HEAD' ? undefined : body)
      },
      'ARTIFACT_DIGEST_MISMATCH',
    ],
  ]

  it.each(fileTroubles)('G4 G1 %s', async (_, answer, code) => {
    const [askedBefore, getsBefore] = [forbidden.asked, site.gets(site.pathOf(newer, 'rootfs'))]
    site.moveTo(newer)
    restore = site.disturb(isRootfs, answer())
    const report = await service.sync()
    expect(report.streams[0]?.bootimages.find(({ id }) => id.includes(newer))).toMatchObject({
      state: 'failed',
      code,
    })
    // Field case 142: no endless loop.
    expect(site.gets(site.pathOf(newer, 'rootfs')) - getsBefore).toBeLessThanOrEqual(12)
    expect(forbidden.asked).toBe(askedBefore)

    expect(await service.current()).toBe(older)
    const statuses = await Promise.all(
      digestsOfSet(site.set(newer)).map(
        async (sha256) => (await service.get(`/artifacts/${sha256}/x`)).status,
      ),
    )
    expect(statuses).toEqual([503, 503, 503])
    expect((await service.readiness()).status).toBe(200)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
  })

  it('G4 cut in the middle, it is continued where it was; then the new release is current by itself', async () => {
    const half = Math.floor(rootfs().length / 2)
    let cuts = 0
    restore = site.disturb(isRootfs, (request, response, asUsual) => {
      if (request.method !== 'GET' || cuts > 0) return asUsual()
      cuts += 1
      response.writeHead(200, { 'content-length': rootfs().length, etag: site.etagOf(rootfs()) })
      response.write(rootfs().subarray(0, half), () => response.destroy())
    })
    await service.sync()
    await untilCurrent(service, newer)
    const continued = site.requests.filter(({ path, range }) => isRootfs(path) && range !== undefined)
    expect(continued.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]))).toEqual([
      expect.toSatisfy((from: number) => from > 0 && from <= half),
    ])
    const [stream] = await service.streams()
    expect(stream).not.toHaveProperty('error')
    expect(stream).not.toHaveProperty('failingSince')
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newer)))
  })
})
