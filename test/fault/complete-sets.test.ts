import { afterEach, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
let site: UpstreamSite
let service: RunningService

afterEach(async () => {
  await service?.remove()
  await site?.stop()
})

const statusOf = async (sha256: string) => (await service.get(`/artifacts/${sha256}/x`)).status

describe('G3 a set of which one file cannot be had', () => {
  it('G3 never becomes bootable, whichever file it is; the old one stays until the set is whole', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    site.moveTo(newer)
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const) {
      const path = site.pathOf(newer, role)
      site.publish(path, undefined)
      const report = await service.sync()
      const target = report.streams[0]?.bootimages.find(({ id }) => id.includes(newer))
      expect(target).toMatchObject({ state: 'failed', code: 'ARTIFACT_UNAVAILABLE' })
      expect(target?.failure).toContain(path)

      expect(await service.current()).toBe(older)
      expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
      const statuses = await Promise.all(digestsOfSet(site.set(newer)).map(statusOf))
      expect(statuses).toEqual([503, 503, 503])
      const [stream] = await service.streams()
      expect(stream?.architectures[0]?.target).toMatchObject({ release: newer, state: 'failed' })
      expect((await service.readiness()).ready).toBe(true)
      site.publish(path, site.set(newer)[role].bytes)
      if (role !== 'rootfs') site.publish(site.pathOf(newer, nextAfter(role)), undefined)
    }
    await service.sync()
    expect(await service.current()).toBe(newer)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newer)))
  })

  it('G3 G11 as the first of a stream, its machines wait and the service says it is not ready and why', async () => {
    site = await startUpstreamSite({ releases: [older] })
    const rootfs = site.pathOf(older, 'rootfs')
    site.publish(rootfs, undefined)
    service = await startRunningService({ site })
    const script = await eventually(
      () => service.script(unknownMac),
      (text) => text.includes('could not be fetched'),
    )
    expect(script).toContain('# Pilotlight: wait sample')
    expect(script).not.toContain('/artifacts/')
    const readiness = await service.readiness()
    expect(readiness.status).toBe(503)
    const part = readiness.parts.find(({ part }) => part === 'stream:sample')
    expect(part?.reason).toContain(`${older} could not be fetched`)
    expect(part?.reason).toContain(rootfs)

    site.publish(rootfs, site.set(older).rootfs.bytes)
    await service.sync()
    expect((await service.readiness()).status).toBe(200)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
  })
})

function nextAfter(role: 'kernel' | 'initramfs'): 'initramfs' | 'rootfs' {
  return role === 'kernel' ? 'initramfs' : 'rootfs'
}
