import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, startRunningService, untilCurrent } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { releaseIndexPath, startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
const mac = '52:54:00:00:00:02'
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [older, newer], current: newer, arches: ['x86_64', 'aarch64'] })
  service = await startRunningService({
    site,
    hosts: [{ id: 'roaming', macs: [mac], profile: 'worker', pin: { release: older } }],
  })
  await untilCurrent(service, newer)
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

const twenty = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, ask))

/** Keeps back every file of the older release for aarch64 until it is told to let go. */
function keepBack(): () => void {
  let letGo: (() => void)[] = []
  let isOpen = false
  const stop = site.disturb(
    (path) => path.includes(`/${older}/aarch64/`),
    (request, _, asUsual) => {
      if (isOpen || request.method === 'HEAD') asUsual()
      else letGo.push(asUsual)
    },
  )
  return () => {
    isOpen = true
    for (const answer of letGo) answer()
    letGo = []
    stop()
  }
}

describe('twenty machines ask for a set that is not here and can be resolved (field case 144)', () => {
  it('one fetch starts, all are told to wait, none is given bytes of a fetch in progress', async () => {
    const letGo = keepBack()
    // Nobody follows aarch64 here: only the question itself makes it wanted.
    const scripts = await twenty(() => service.script(mac, 'arch=arm64&platform=efi'))
    for (const script of scripts) {
      expect(script).toContain(`# Pilotlight: wait sample ${older} aarch64`)
      expect(script).not.toContain('/artifacts/')
    }
    const { kernel, initramfs, rootfs } = site.set(older, 'aarch64')
    await eventually(
      async () => site.gets(site.pathOf(older, 'kernel', 'aarch64')),
      (count) => count > 0,
    )
    for (const { sha256, name } of [kernel, initramfs, rootfs]) {
      for (const { status, headers, body } of await twenty(() =>
        service.get(`/artifacts/${sha256}/${name}`),
      )) {
        expect(status).toBe(503)
        expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
        expect(headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
        expect(body.toString()).toContain(older)
      }
    }
    const fetching = (await service.bootimages()).find(({ arch }) => arch === 'aarch64')
    expect(fetching).toMatchObject({ release: older, state: 'downloading', doneBytes: 0 })

    letGo()
    const script = await eventually(
      () => service.script(mac, 'arch=arm64&platform=efi'),
      (text) => text.includes('Pilotlight: live'),
    )
    expect(script).toContain(`live sample ${older} aarch64`)
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const) {
      expect(site.gets(site.pathOf(older, role, 'aarch64')), role).toBe(1)
    }
    // For x86_64, which is pinned by configuration, it was asked before; once each.
    expect(site.gets(releaseIndexPath)).toBeLessThanOrEqual(2)
  })

  it('a fetch that failed is not remembered: all get the same answer, and the next one may succeed', async () => {
    const path = site.pathOf(newer, 'rootfs', 'aarch64')
    site.publish(path, undefined)
    await service.write(
      'hosts.d/hosts.yaml',
      `version: 1\nhosts:\n  - { id: roaming, macs: ['${mac}'], profile: worker, pin: { release: ${newer} } }\n`,
    )
    const failing = await eventually(
      () => twenty(() => service.script(mac, 'arch=arm64&platform=efi')),
      (scripts) => scripts.every((script) => script.includes('could not be fetched')),
    )
    expect(new Set(failing.map((script) => /^# Reason: .*$/m.exec(script)?.[0])).size).toBe(1)
    // Machines that ask again and again do not make as many fetches.
    expect(site.gets(path)).toBe(1)

    site.publish(path, site.set(newer, 'aarch64').rootfs.bytes)
    await service.sync()
    expect(await service.script(mac, 'arch=arm64&platform=efi')).toContain(`live sample ${newer} aarch64`)
  })
})
