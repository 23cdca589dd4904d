import { readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const sizes = { kernelBytes: 64 << 10, initramfsBytes: 1 << 20, rootfsBytes: 16 << 20 }
let site: UpstreamSite
let service: RunningService

beforeEach(async () => {
  site = await startUpstreamSite({ releases: [older, newer], sizes })
  service = await startRunningService({ site })
  await untilCurrent(service, older)
})
afterEach(async () => {
  await service?.remove()
  await site?.stop()
})

/** A node that takes a little of a file and then nothing; told how many bytes came before the end. */
function startSlowDownload(path: string): Promise<{ takeTheRest(): Promise<number> }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${service.bootUrl}${path}`, (response) => {
      let count = 0
      response.on('data', (chunk: Buffer) => {
        if (count === 0) response.pause()
        count += chunk.length
      })
      response.on('error', () => {})
      const over = new Promise<number>((ended) => response.once('close', () => ended(count)))
      resolve({
        takeTheRest() {
          response.resume()
          return over
        },
      })
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** Sends the first half of the newer rootfs and then nothing more, until the returned function is called. */
function stopHalfWay(): () => void {
  const path = site.pathOf(newer, 'rootfs')
  const body = site.set(newer).rootfs.bytes
  return site.disturb(
    (asked) => asked === path,
    (request, response, asUsual) => {
      if (request.method === 'HEAD') return asUsual()
      response.writeHead(200, { 'content-length': body.length, etag: site.etagOf(body) })
      response.write(body.subarray(0, body.length / 2))
    },
  )
}

/** Bytes of the file that is being fetched, on disk so far. */
async function writtenBytes(): Promise<number> {
  const incoming = join(service.dataDirectory, 'incoming')
  const sizes = await Promise.all(
    (await readdir(incoming)).map(async (name) => (await stat(join(incoming, name))).size),
  )
  return Math.max(0, ...sizes)
}

/** Processes that this one has started and that still run, where the system tells (Linux). */
async function childrenOf(pid: number | undefined): Promise<string> {
  return readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
}

describe('SIGTERM while a sync and ten downloads are running', () => {
  it('ends within 8 s with exit code 0 and leaves no process; the next start goes on where the fetch was (Range)', async () => {
    const resume = stopHalfWay()
    site.moveTo(newer)
    const sync = service.sync().catch(() => undefined)
    const written = await eventually(writtenBytes, (bytes) => bytes > 4 << 20)
    const { sha256, name } = site.set(older).rootfs
    const downloads = await Promise.all(
      Array.from({ length: 10 }, () => startSlowDownload(`/artifacts/${sha256}/${name}`)),
    )
    const { child } = service.process()
    const children = await childrenOf(child.pid)

    const startedAt = performance.now()
    await service.kill('SIGTERM')
    const tookMs = performance.now() - startedAt
    expect([child.exitCode, child.signalCode]).toEqual([0, null])
    expect(tookMs).toBeLessThan(8_000)
    expect(children).toBe('')
    const taken = await Promise.all(downloads.map((download) => download.takeTheRest()))
    for (const count of taken) expect(count).toBeLessThan(sizes.rootfsBytes)
    await sync
    expect(await readdir(service.dataDirectory)).not.toContain('control.sock')
    expect((await readdir(join(service.dataDirectory, 'incoming'))).length).toBeGreaterThan(0)

    resume()
    const before = site.requests.length
    await service.start()
    await untilCurrent(service, newer)
    const rootfsRequests = site.requests
      .slice(before)
      .filter(({ method, path }) => method === 'GET' && path === site.pathOf(newer, 'rootfs'))
    expect(rootfsRequests).toHaveLength(1)
    const from = Number(/^bytes=(\d+)-$/.exec(rootfsRequests[0]?.range ?? '')?.[1])
    expect(from).toBeGreaterThanOrEqual(written)
    expect(from).toBeLessThanOrEqual(sizes.rootfsBytes / 2)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newer)))
    expect(await readdir(join(service.dataDirectory, 'incoming'))).toEqual([])
  }, 60_000)

  it('G7 killed instead, the next start goes on where the fetch was all the same', async () => {
    const resume = stopHalfWay()
    site.moveTo(newer)
    void service.sync().catch(() => undefined)
    await eventually(writtenBytes, (bytes) => bytes > 4 << 20)
    await service.kill('SIGKILL')
    resume()
    const before = site.requests.length
    await service.start()
    await untilCurrent(service, newer)
    const ranges = site.requests
      .slice(before)
      .filter(({ method, path }) => method === 'GET' && path === site.pathOf(newer, 'rootfs'))
      .map(({ range }) => range)
    expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)])
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newer)))
  })

  it('a transfer that is nearly done gets the time to finish', async () => {
    const { sha256, name, bytes } = site.set(older).rootfs
    const received = new Promise<number>((resolve, reject) => {
      request(`${service.bootUrl}/artifacts/${sha256}/${name}`, (response) => {
        let count = 0
        response.on('data', (chunk: Buffer) => {
          if (count === 0) service.process().child.kill('SIGTERM')
          count += chunk.length
        })
        response.on('error', reject)
        response.on('end', () => resolve(count))
      })
        .on('error', reject)
        .end()
    })
    expect(await received).toBe(bytes.length)
    await service.kill('SIGTERM')
    expect(service.process().child.exitCode).toBe(0)
  })
})
