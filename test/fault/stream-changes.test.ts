import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { StreamArchSummary } from '../../src/http/admin/operations.ts'
import { sampleStreamDocument } from '../../src/runtime/demo/sample-documents.ts'
import { makeSampleRelease } from '../../src/runtime/demo/sample-release.ts'
import {
  digestOf,
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { smallSizes, startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
let site: UpstreamSite
let mirror: UpstreamSite | undefined
let service: RunningService

afterEach(async () => {
  await service?.remove()
  await site?.stop()
  await mirror?.stop()
  mirror = undefined
})

async function archOf(): Promise<StreamArchSummary | undefined> {
  return (await service.streams())[0]?.architectures[0]
}

async function bootsRelease(release: string): Promise<void> {
  expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
}

describe('G8 the same release with other digests', () => {
  it('G8 is held and reported, not served, also after a restart; both documents stay in the archive', async () => {
    site = await startUpstreamSite({ releases: [older] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    const original = sampleStreamDocument(siteRelease(), site.origin, '2026-07-08T12:00:00Z')

    const again = { release: older, sets: makeSampleRelease('44.20260601.3.1', ['x86_64'], smallSizes).sets }
    const republished = sampleStreamDocument(again, site.origin, '2026-07-09T12:00:00Z')
    site.publish(streamPath, republished)
    const requests = site.requests.length
    await service.sync()
    await service.sync()

    const held = { change: 'republished', release: older, policy: 'hold' }
    expect(await archOf()).toMatchObject({ current: older, lastChange: 'republished', pending: held })
    const bootimages = await service.bootimages()
    expect(bootimages.map(({ release, state }) => [release, state]).sort()).toEqual([
      [older, 'held'],
      [older, 'ready'],
    ])
    await bootsRelease(older)
    // Not one byte of it was asked for, and none is served.
    const askedFor = site.requests.slice(requests).map(({ path }) => path)
    expect(askedFor.filter((path) => path !== streamPath)).toEqual([])
    for (const set of again.sets) {
      for (const sha256 of digestsOfSet(set))
        expect((await service.get(`/artifacts/${sha256}/x`)).status).toBe(404)
    }
    expect(service.log()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: 'stream change not followed',
        change: 'republished',
        release: older,
      }),
    )
    const explained = await service.explain({ mac: '52:54:00:00:00:01', arch: 'x86_64' })
    expect(explained.reasons.map(({ text }) => text)).toContain(
      `a change of sample to ${older} (republished) is not followed: held by streams.sample.changes.republished: hold, until an admin sets it to follow and runs pilotlight sync`,
    )

    await service.restart('SIGKILL')
    expect(await archOf()).toMatchObject({ current: older, pending: held })
    await bootsRelease(older)
    const archive = await readdir(join(service.dataDirectory, 'metadata'))
    expect(archive).toEqual(
      expect.arrayContaining([`${digestOf(original)}.json`, `${digestOf(republished)}.json`]),
    )
  })

  function siteRelease() {
    const [release] = site.releases
    if (release === undefined) throw new Error('the site is empty')
    return release
  }
})

describe('G9 a stream that goes back', () => {
  it('G9 is followed when a second refresh confirms it, not earlier, and without a fetch', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    site.moveTo(newer)
    await service.sync()
    await untilCurrent(service, newer)
    site.moveTo(older)
    const gets = site.requests.length

    await service.sync()
    expect(await archOf()).toMatchObject({
      current: newer,
      lastChange: 'rolled-back',
      pending: { change: 'rolled-back', release: older, policy: 'confirm', seen: 1 },
    })
    await bootsRelease(newer)

    await service.sync()
    expect(await archOf()).toMatchObject({ current: older, previous: [newer] })
    expect(await archOf()).not.toHaveProperty('pending')
    await bootsRelease(older)
    expect(site.requests.slice(gets).filter(({ path }) => path !== streamPath)).toEqual([])
  })

  it('G9 that a single refresh saw and the next one did not, stays where it was', async () => {
    site = await startUpstreamSite({ releases: [older, newer], current: newer })
    service = await startRunningService({ site })
    await untilCurrent(service, newer)
    for (const release of [older, newer, older, newer]) {
      site.moveTo(release)
      await service.sync()
      expect(await service.current()).toBe(newer)
    }
    expect(await archOf()).not.toHaveProperty('pending')
  })

  it('G9 half confirmed before a kill, needs the other half after it, not a hand', async () => {
    site = await startUpstreamSite({ releases: [older, newer], current: newer })
    service = await startRunningService({ site })
    await untilCurrent(service, newer)
    site.moveTo(older)
    await service.sync()
    expect(await service.current()).toBe(newer)
    await service.restart('SIGKILL')
    await untilCurrent(service, older)
    await bootsRelease(older)
  })

  it('G9 at a mirror alone is not followed, however often it is seen; at the canonical source it is', async () => {
    site = await startUpstreamSite({ releases: [older, newer], current: newer })
    mirror = await startUpstreamSite({ releases: [older, newer], current: newer })
    service = await startRunningService({
      site,
      stream: { source: { url: site.streamUrl, mirrors: [mirror.streamUrl] } },
    })
    await untilCurrent(service, newer)
    mirror.moveTo(older)
    for (let round = 0; round < 4; round += 1) await service.sync()
    expect(await archOf()).toMatchObject({
      current: newer,
      pending: { change: 'rolled-back', release: older },
    })
    await bootsRelease(newer)

    // The canonical source away is no agreement.
    await site.goAway()
    await service.sync()
    expect(await service.current()).toBe(newer)
    await site.comeBack()

    site.moveTo(older)
    await service.sync()
    await untilCurrent(service, older)
    await bootsRelease(older)
  })

  it('G9 withdrawn or partial for an architecture keeps what was served', async () => {
    site = await startUpstreamSite({ releases: [older, newer], arches: ['x86_64', 'aarch64'] })
    service = await startRunningService({ site, stream: { architectures: ['x86_64', 'aarch64'] } })
    await untilCurrent(service, older)
    const document = (change: (architectures: Record<string, never>) => void) => {
      const release = site.releases.find((candidate) => candidate.release === newer)
      if (release === undefined) throw new Error('no such release')
      const parsed = JSON.parse(sampleStreamDocument(release, site.origin, '2026-07-10T12:00:00Z'))
      change(parsed.architectures)
      return JSON.stringify(parsed)
    }
    site.publish(
      streamPath,
      document((architectures) => {
        delete architectures.aarch64
      }),
    )
    await service.sync()
    await untilCurrent(service, newer)
    expect(await service.current('aarch64')).toBe(older)
    const [stream] = await service.streams()
    expect(stream?.architectures.map(({ lastChange }) => lastChange)).toEqual(['advanced', 'withdrawn'])
    const script = await service.script('52:54:00:00:00:09', 'arch=arm64&platform=efi')
    expect(script).toContain(`# Pilotlight: live sample ${older} aarch64`)
    expect((await service.readiness()).ready).toBe(true)
  })
})
