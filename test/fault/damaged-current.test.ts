import { chmod, open } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Damages a file of a release and has that found, while upstream is gone. */
async function lose(release: string, role: 'initramfs' | 'rootfs'): Promise<void> {
  const { sha256, name } = site.set(release)[role]
  await site.goAway()
  const path = join(service.dataDirectory, 'artifacts/sha256', sha256.slice(0, 2), sha256)
  await chmod(path, 0o644)
  const handle = await open(path, 'r+')
  await handle.write(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]), 0, 8, 1000)
  await handle.close()
  expect((await service.get(`/artifacts/${sha256}/${name}`)).status).toBe(503)
  await eventually(
    () => service.script(unknownMac),
    (script) => !script.includes(`live sample ${release}`),
  )
}

const explainCodes = async () =>
  (await service.explain({ mac: unknownMac, arch: 'x86_64' })).reasons.map(({ code }) => code)

describe('a current bootimage that is damaged while upstream is gone', () => {
  it('G4 leaves the one before it to boot, says so everywhere, and comes back by itself', async () => {
    site = await startUpstreamSite({ releases: [older, newer] })
    service = await startRunningService({ site })
    await untilCurrent(service, older)
    site.moveTo(newer)
    await service.sync()
    await untilCurrent(service, newer)
    await lose(newer, 'initramfs')

    const script = await service.script(unknownMac)
    expect(script).toContain(`# Pilotlight: live sample ${older} x86_64`)
    expect(script).toContain(`# Reason: boots ${older} of sample, the latest verified one`)
    expect(script).toContain(
      `# Reason: the current bootimage of sample, ${newer}, lost a file or failed a check`,
    )
    expect(await explainCodes()).toEqual(
      expect.arrayContaining(['follows-previous', 'current-damaged', 'host-unknown']),
    )
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(older)))
    const document = JSON.parse((await service.get('/streams/sample.json')).body.toString())
    expect(document.architectures.x86_64.artifacts.metal.release).toBe(older)
    expect(
      (await service.get('/streams/sample/x86_64/metal/pxe/kernel')).headers.get('X-Pilotlight-Release'),
    ).toBe(older)
    const { ready, parts } = await service.readiness()
    expect(ready).toBe(true)
    expect(parts.find(({ part }) => part === 'stream:sample')?.reason).toContain(`${newer}, lost a file`)

    // A loader in the middle of the damaged one is told so at once: its script asks anew and gets what boots.
    const { sha256, name } = site.set(newer).initramfs
    const refused = await eventually(
      () => service.get(`/artifacts/${sha256}/${name}`),
      ({ headers }) => !headers.has('Retry-After'),
    )
    expect(refused.status).toBe(503)
    expect(refused.body.toString()).toContain(`${newer} of sample for x86_64 is failed`)

    await site.comeBack()
    await service.sync()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(newer)))
  })

  it('G9 is waited for where the one before it is one that the stream went back from', async () => {
    site = await startUpstreamSite({ releases: [older, newer], current: newer })
    service = await startRunningService({ site })
    await untilCurrent(service, newer)
    site.moveTo(older)
    await service.sync()
    await service.sync()
    await untilCurrent(service, older)
    await lose(older, 'rootfs')
    const script = await service.script(unknownMac)
    expect(script).toContain(`# Pilotlight: wait sample ${older} x86_64`)
    expect(script).toContain(
      `# Reason: the current bootimage of sample, ${older}, lost a file or failed a check`,
    )
    expect(script).not.toContain('first bootimage')
  })
})
