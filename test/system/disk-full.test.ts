import { mkdtemp, readdir, rm, statfs, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { canMountTmpfs, mountTmpfs } from '../fakes/tmpfs.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const canMount = canMountTmpfs()
if (!canMount)
  process.stderr.write(
    'test/system/disk-full.test.ts: nothing can be mounted here (root?), its tests are skipped\n',
  )

const mebibyte = 1 << 20
/** Kept free by the service; a disk must be larger for anything to be fetched. */
const reserve = 256 * mebibyte
const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const sizes = { kernelBytes: mebibyte, initramfsBytes: 3 * mebibyte, rootfsBytes: 12 * mebibyte }

describe.skipIf(!canMount)('G7 a disk that fills up', () => {
  let disk: string
  let unmount = () => {}
  let site: UpstreamSite
  let service: RunningService | undefined

  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), 'pilotlight-disk-'))
  })
  afterAll(() => rm(disk, { recursive: true, force: true }))

  beforeEach(async () => {
    unmount = await mountTmpfs(disk, 'size=320m')
    site = await startUpstreamSite({ releases: [older, newer], sizes })
  })
  afterEach(async () => {
    await service?.remove()
    service = undefined
    await site?.stop()
    unmount()
  })

  const filler = () => join(disk, 'filler')
  async function freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(disk)
    return bavail * bsize
  }
  /** Leaves so many bytes free; the service may be writing at the same time. */
  async function fillUpTo(free: number): Promise<void> {
    const bytes = Buffer.alloc(Math.max(0, (await freeBytes()) - free))
    await writeFile(filler(), bytes).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error
    })
  }

  async function start(): Promise<RunningService> {
    const started = await startRunningService({ site, parent: disk })
    service = started
    return started
  }

  const failureOf = async (running: RunningService) =>
    (await running.bootimages()).find(({ release }) => release === newer)?.failure

  it('before a sync: nothing is begun, bytes needed and free are said, what is served goes on; with space it completes by itself', async () => {
    const running = await start()
    await untilCurrent(running, older)
    await fillUpTo(reserve + 8 * mebibyte)
    site.moveTo(newer)
    const report = await running.sync()
    const target = report.streams[0]?.bootimages.find(({ id }) => id.includes(newer))
    expect(target).toMatchObject({ state: 'failed', code: 'SPACE_INSUFFICIENT' })
    const [, needed, free] =
      /(\d+) bytes needed, (\d+) free, of which \d+ are kept in reserve/.exec(target?.failure ?? '') ?? []
    expect(Number(needed)).toBe(16 * mebibyte)
    expect(Number(free)).toBeGreaterThan(reserve)
    expect(Number(free)).toBeLessThan(reserve + 16 * mebibyte)
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const)
      expect(site.gets(site.pathOf(newer, role)), role).toBe(0)

    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(older)))
    const readiness = await running.readiness()
    expect(readiness.status).toBe(200)

    await unlink(filler())
    await eventually(
      () => running.current(),
      (current) => current === newer,
      90_000,
    )
    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(newer)))
  })

  it('in the middle of a fetch, to the last byte: nodes boot, the error says so; with space it goes on by itself', async () => {
    const running = await start()
    await untilCurrent(running, older)
    const path = site.pathOf(newer, 'rootfs')
    const body = site.set(newer).rootfs.bytes
    let goOn = () => {}
    const restore = site.disturb(
      (asked) => asked === path,
      (request, response, asUsual) => {
        if (request.method === 'HEAD' || request.headers.range !== undefined) return asUsual()
        response.writeHead(200, { 'content-length': body.length, etag: site.etagOf(body) })
        response.write(body.subarray(0, 4 * mebibyte))
        goOn = () => response.end(body.subarray(4 * mebibyte))
      },
    )
    site.moveTo(newer)
    const sync = running.sync().catch(() => undefined)
    await eventually(
      async () => (await readdir(join(running.dataDirectory, 'incoming'))).length,
      (count) => count > 0,
    )
    await eventually(
      async () => site.gets(path),
      (count) => count > 0,
    )
    await fillUpTo(0)
    goOn()
    await sync
    restore()
    const failure = await failureOf(running)
    expect(failure?.code).toMatch(/^(SPACE_INSUFFICIENT|STORAGE_FAILED)$/)
    expect(failure?.message).toMatch(/bytes needed|ENOSPC|no space/i)

    // Decisions and files come from memory and from what is on disk already.
    for (const mac of ['52:54:00:00:00:01', '52:54:00:00:00:02'])
      expect(digestsOfBoot(await running.boot({ mac }))).toEqual(digestsOfSet(site.set(older)))
    expect((await running.readiness()).status).toBe(200)
    expect((await running.explain({ mac: '52:54:00:00:00:01', arch: 'x86_64' })).release).toBe(older)

    await unlink(filler())
    await eventually(
      () => running.current(),
      (current) => current === newer,
      90_000,
    )
    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(newer)))
    expect(await readdir(join(running.dataDirectory, 'incoming'))).toEqual([])
  })

  it('full at every write of the state too: a stream that moves is not lost, a kill needs no hand', async () => {
    const running = await start()
    await untilCurrent(running, older)
    await fillUpTo(0)
    site.moveTo(newer)
    const report = await running.sync()
    expect(
      report.streams[0]?.outcome === 'failed' ||
        report.streams[0]?.bootimages.some(({ state }) => state === 'failed'),
    ).toBe(true)
    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(older)))
    expect((await running.readiness()).status).toBe(200)

    // Killed and started on a disk without a free byte, it serves what it has.
    await running.restart('SIGKILL')
    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(older)))
    expect((await running.readiness()).status).toBe(200)

    await unlink(filler())
    await running.sync()
    await eventually(
      () => running.current(),
      (current) => current === newer,
      90_000,
    )
    expect(digestsOfBoot(await running.boot())).toEqual(digestsOfSet(site.set(newer)))
  })
})
