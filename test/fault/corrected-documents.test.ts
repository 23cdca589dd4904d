import { afterEach, describe, expect, it } from 'vitest'
import type { StreamArchSummary } from '../../src/http/admin/operations.ts'
import { sampleStreamDocument } from '../../src/runtime/demo/sample-documents.ts'
import type { SampleRelease } from '../../src/runtime/demo/sample-release.ts'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const wrongDigest = 'ab'.repeat(32)
let site: UpstreamSite
let service: RunningService

afterEach(async () => {
  await service?.remove()
  await site?.stop()
})

/** The document of a release, its rootfs under a digest that the file does not have. */
function wrongDocument(name: string): string {
  const release = site.releases.find((candidate) => candidate.release === name) as SampleRelease
  const document = sampleStreamDocument(release, site.origin, '2026-07-08T12:00:00Z')
  return document.replaceAll(site.set(name).rootfs.sha256, wrongDigest)
}

async function archOf(): Promise<StreamArchSummary | undefined> {
  return (await service.streams())[0]?.architectures[0]
}

describe('a document with a wrong digest that is corrected under the same release', () => {
  it('G8 as the first one is followed: nothing of that release was ever verified here', async () => {
    site = await startUpstreamSite({ releases: [older] })
    site.publish(streamPath, wrongDocument(older))
    service = await startRunningService({ site })
    await eventually(archOf, (arch) => arch?.target?.state === 'failed')
    site.moveTo(older)
    await service.sync()
    expect(await archOf()).toMatchObject({ current: older, lastChange: 'corrected' })
    expect(await archOf()).not.toHaveProperty('pending')
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
  })

  it('G5 frees a pin that was fixed to what nobody could have', async () => {
    site = await startUpstreamSite({ releases: [older] })
    site.publish(streamPath, wrongDocument(older))
    const hosts = [{ id: 'n1', macs: ['52:54:00:00:00:01'], profile: 'worker', pin: { release: older } }]
    service = await startRunningService({ site, hosts, stream: { source: { url: site.streamUrl } } })
    await eventually(archOf, (arch) => arch?.target?.state === 'failed')
    site.moveTo(older)
    await service.sync()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
  })

  it('G8 behind a release that boots is followed as well, and boots stay whole until then', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    site.publish(streamPath, wrongDocument(newer))
    await service.sync()
    expect(await archOf()).toMatchObject({ current: older, target: { release: newer, state: 'failed' } })
    site.moveTo(newer)
    await service.sync()
    expect(await archOf()).toMatchObject({ current: newer, lastChange: 'corrected' })
    site.publish(streamPath, wrongDocument(newer))
    await service.sync()
    expect(await archOf()).toMatchObject({ current: newer, lastChange: 'republished' })
  })
})

describe('a change that is held', () => {
  it.each([
    ['advanced', newer, { advanced: 'hold' }, 'held by streams.sample.changes.advanced: hold'],
    ['rolled-back', older, { rolledBack: 'hold' }, 'held by streams.sample.changes.rolledBack: hold'],
    [
      'rolled-back',
      older,
      {},
      'waits for a second refresh that says the same (streams.sample.changes.rolledBack: confirm)',
    ],
  ])(
    'G10 %s says the line that decides it in script, log, streams, sync, API and readiness',
    async (change, release, changes, words) => {
      site = await startUpstreamSite({
        releases: [older, newer],
        current: change === 'advanced' ? older : newer,
      })
      service = await startRunningService({ site, stream: { changes } })
      await untilCurrent(service, change === 'advanced' ? older : newer)
      site.moveTo(release)
      const report = await service.sync()
      expect(report.streams[0]?.notes).toEqual([
        { arch: 'x86_64', kind: 'not-followed', text: expect.stringContaining(words) },
      ])
      expect((await archOf())?.pending).toMatchObject({
        change,
        release,
        decides: expect.stringContaining(words),
      })
      const script = await service.script('52:54:00:00:00:01')
      expect(script).toContain(
        `# Reason: a change of sample to ${release} (${change}) is not followed: ${words}`,
      )
      const { parts } = await service.readiness()
      expect(parts.find(({ part }) => part === 'stream:sample')?.reason).toContain(words)
      expect(service.log()).toContainEqual(
        expect.objectContaining({ change, release, reason: expect.stringContaining(words) }),
      )
    },
  )

  it('G8 is followed as soon as an admin writes what it told', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site, stream: { changes: { advanced: 'hold' } } })
    await untilCurrent(service, older)
    site.moveTo(newer)
    await service.sync()
    expect(await service.current()).toBe(older)
    const source = { url: site.streamUrl, releaseIndex: site.releaseIndexUrl }
    const streams = { sample: { source, refresh: '1h', signatures: 'off', changes: { advanced: 'follow' } } }
    await service.writeConfig({ streams })
    await eventually(
      async () => {
        await service.sync()
        return service.current()
      },
      (current) => current === newer,
    )
  })
})
