import { chmod, open, readdir, readFile, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SampleFile } from '../../src/runtime/demo/sample-release.ts'
import type { RawResponse } from '../fakes/raw-http.ts'
import {
  digestOf,
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260601.3.0'
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [release] })
  service = await startRunningService({ site })
})
beforeEach(() => untilCurrent(service, release))
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

function blobPath({ sha256 }: SampleFile): string {
  return join(service.dataDirectory, 'artifacts/sha256', sha256.slice(0, 2), sha256)
}

/** One byte in the middle is another one; the length stays. */
async function damage(file: SampleFile): Promise<void> {
  const path = blobPath(file)
  await chmod(path, 0o644)
  const handle = await open(path, 'r+')
  try {
    const at = Math.floor(file.bytes.length / 2)
    await handle.write(Buffer.from([(file.bytes[at] ?? 0) ^ 0xff]), 0, 1, at)
  } finally {
    await handle.close()
  }
}

const ask = (file: SampleFile): Promise<RawResponse> => service.get(`/artifacts/${file.sha256}/${file.name}`)

/** Asks until it is served; every body on the way with status 200 has the digest that its URL names. */
async function untilServedAgain(file: SampleFile): Promise<void> {
  await eventually(
    () => ask(file),
    ({ status, body }) => {
      if (status === 200) expect(digestOf(body)).toBe(file.sha256)
      return status === 200
    },
  )
}

describe('G1 a verified file that changes on disk while the service runs', () => {
  it('G1 is not served, the others of its set are, and it is fetched again by itself', async () => {
    const { kernel, initramfs, rootfs } = site.set(release)
    const fetchedBefore = site.gets(site.pathOf(release, 'rootfs'))
    await damage(rootfs)

    const answer = await ask(rootfs)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/)
    for (const other of [kernel, initramfs]) {
      const { status, body } = await ask(other)
      expect([status, digestOf(body)]).toEqual([200, other.sha256])
    }

    await untilServedAgain(rootfs)
    expect(site.gets(site.pathOf(release, 'rootfs'))).toBe(fetchedBefore + 1)
    const quarantine = await readdir(join(service.dataDirectory, 'quarantine'))
    expect(quarantine.filter((name) => name.startsWith(rootfs.sha256)).length).toBeGreaterThan(1)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
  })

  it('G1 asked for by twenty nodes at once, not one gets a wrong byte and one fetch is enough', async () => {
    const { initramfs } = site.set(release)
    const fetchedBefore = site.gets(site.pathOf(release, 'initramfs'))
    await damage(initramfs)
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(initramfs)))
    for (const { status, body } of answers) {
      expect([200, 503]).toContain(status)
      if (status === 200) expect(digestOf(body)).toBe(initramfs.sha256)
    }
    expect(answers.some(({ status }) => status === 503)).toBe(true)
    await untilServedAgain(initramfs)
    expect(site.gets(site.pathOf(release, 'initramfs'))).toBe(fetchedBefore + 1)
  })

  it('G1 with its old time set back, is found by verify, which says both digests', async () => {
    const { kernel } = site.set(release)
    const { atime, mtime } = await stat(blobPath(kernel))
    await damage(kernel)
    await utimes(blobPath(kernel), atime, mtime)
    const report = await service.control<{ bad: { sha256: string; reason: string }[] }>('/api/v1/verify')
    expect(report.bad).toHaveLength(1)
    expect(report.bad[0]).toMatchObject({ sha256: kernel.sha256 })
    expect(report.bad[0]?.reason).toContain(
      digestOf(await readFile(join(service.dataDirectory, 'quarantine', kernel.sha256))),
    )
    await untilServedAgain(kernel)
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^pilotlight_artifact_verify_failures_total\{check="scrub"\} [1-9]/m)
  })

  it('G1 only touched, is read again and served as it is, without a fetch', async () => {
    const { rootfs } = site.set(release)
    const requestsBefore = site.requests.length
    await utimes(blobPath(rootfs), new Date(), new Date())
    await untilServedAgain(rootfs)
    expect(site.requests.length).toBe(requestsBefore)
  })

  it('G1 damaged while upstream is gone, its machines wait and say why; they boot as soon as it is back', async () => {
    const { rootfs } = site.set(release)
    await site.goAway()
    await damage(rootfs)
    expect((await ask(rootfs)).status).toBe(503)
    await eventually(
      () => service.script('52:54:00:00:00:01'),
      (script) => script.includes('Pilotlight: wait sample'),
    )
    await site.comeBack()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
  })
})
