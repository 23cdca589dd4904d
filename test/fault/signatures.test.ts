import { access, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  unknownMac,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { makeSigner, type Signer } from '../fakes/signing.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'
import { startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const releases = ['44.20260601.3.0', '44.20260622.3.0', '44.20260707.3.1'] as const
const [first, second, third] = releases
const roles = ['kernel', 'initramfs', 'rootfs'] as const
let keys: TemporaryDirectory
let signer: Signer
let site: UpstreamSite
let service: RunningService

async function signRelease(release: string, by: Signer): Promise<void> {
  for (const role of roles) {
    const signature = await by.sign(site.set(release)[role].bytes)
    site.publish(`${site.pathOf(release, role)}.sig`, Buffer.from(signature))
  }
}

beforeAll(async () => {
  keys = await makeTemporaryDirectory()
  signer = await makeSigner()
  await writeFile(join(keys.path, 'key.asc'), signer.publicKey)
  site = await startUpstreamSite({ releases })
  await signRelease(first, signer)
  service = await startRunningService({
    site,
    stream: { signatures: 'required', keys: [join(keys.path, 'key.asc')] },
  })
  await untilCurrent(service, first)
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
  await keys?.remove()
})

describe('G1 a stream that asks for signatures (field case 134)', () => {
  it('G1 serves signed files, with the signature beside each', async () => {
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(first)))
    for (const role of roles) {
      const { sha256, name } = site.set(first)[role]
      const { status, body } = await service.get(`/artifacts/${sha256}/${name}.sig`)
      expect([status, body.equals(await signatureOf(first, role))]).toEqual([200, true])
    }
  })

  it('G1 waits for a signature that is not there yet, serves the old set meanwhile, and needs no second download', async () => {
    await signRelease(second, signer)
    const late = `${site.pathOf(second, 'initramfs')}.sig`
    const signature = await signatureOf(second, 'initramfs')
    site.publish(late, undefined)
    site.moveTo(second)
    const report = await service.sync()
    expect(report.streams[0]?.bootimages.find(({ id }) => id.includes(second))).toMatchObject({
      state: 'pending-signature',
      code: 'SIGNATURE_MISSING',
    })
    expect(await service.current()).toBe(first)
    expect((await service.get(`/artifacts/${site.set(second).kernel.sha256}/x`)).status).toBe(503)

    site.publish(late, signature)
    await service.sync()
    await untilCurrent(service, second)
    for (const role of roles) expect(site.gets(site.pathOf(second, role)), role).toBe(1)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(second)))
  })

  it('G1 never serves what a stranger signed, and says so; the old set goes on', async () => {
    await signRelease(third, await makeSigner())
    await expectRefused()
  })

  it('G1 takes a file whose signature is wrong into quarantine', async () => {
    await signRelease(third, signer)
    const other = await signer.sign(Buffer.from('other bytes'))
    site.publish(`${site.pathOf(third, 'kernel')}.sig`, Buffer.from(other))
    await expectRefused()
    const { sha256 } = site.set(third).kernel
    expect(await readdir(join(service.dataDirectory, 'quarantine'))).toContain(sha256)
    await expect(
      access(join(service.dataDirectory, 'artifacts/sha256', sha256.slice(0, 2), sha256)),
    ).rejects.toThrow('ENOENT')
  })

  async function expectRefused(): Promise<void> {
    site.moveTo(third)
    const report = await service.sync()
    expect(report.streams[0]?.bootimages.find(({ id }) => id.includes(third))).toMatchObject({
      state: 'failed',
      code: 'SIGNATURE_INVALID',
    })
    expect(await service.current()).toBe(second)
    for (const sha256 of digestsOfSet(site.set(third)))
      expect((await service.get(`/artifacts/${sha256}/x`)).status).toBe(503)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(second)))
  }
})

describe('G1 what was verified by rules that are no longer in force', () => {
  const rules = (settings: object) => ({
    streams: {
      sample: { source: { url: site.streamUrl }, refresh: '1h', ...settings },
    },
  })
  const key = (name: string) => join(keys.path, name)

  async function reload(settings: object): Promise<void> {
    await service.writeConfig(rules(settings))
    expect(await service.control('/api/v1/reload')).toEqual({ changed: true })
  }
  const untilScript = (words: string) =>
    eventually(
      () => service.script(unknownMac),
      (script) => script.includes(words),
    )
  const fileRequests = () =>
    site.requests.filter(({ path }) => roles.some((role) => path === site.pathOf(first, role)))

  it('G1 waits for signatures that are asked for since a reload, and needs no second download', async () => {
    const own = await startUpstreamSite({ releases: [first] })
    const following = await startRunningService({ site: own })
    try {
      await untilCurrent(following, first)
      const strict = {
        streams: {
          sample: {
            source: { url: own.streamUrl },
            refresh: '1h',
            signatures: 'required',
            keys: [key('key.asc')],
          },
        },
      }
      await following.writeConfig(strict)
      following.hangUp()
      const script = await eventually(
        () => following.script(unknownMac),
        (text) => text.includes('waits for a good signature'),
      )
      expect(script).toContain(`# Pilotlight: wait sample ${first}`)
      for (const sha256 of digestsOfSet(own.set(first)))
        expect((await following.get(`/artifacts/${sha256}/x`)).status).toBe(503)
      expect((await following.readiness()).ready).toBe(false)
      await following.restart('SIGKILL')
      expect(await following.script(unknownMac)).toContain('# Pilotlight: wait sample')

      for (const role of roles) {
        const signature = await signer.sign(own.set(first)[role].bytes)
        own.publish(`${own.pathOf(first, role)}.sig`, Buffer.from(signature))
      }
      await following.sync()
      expect(digestsOfBoot(await following.boot())).toEqual(digestsOfSet(own.set(first)))
      for (const role of roles) expect(own.gets(own.pathOf(first, role)), role).toBe(1)
    } finally {
      await following.remove()
      await own.stop()
    }
  })

  it('G1 is refused when its key is trusted no longer, and comes back with it; one more key changes nothing', async () => {
    await writeFile(key('other.asc'), (await makeSigner()).publicKey)
    const downloads = fileRequests().length
    const scripts: string[] = []
    let isOver = false
    const asking = (async () => {
      while (!isOver) scripts.push(await service.script(unknownMac))
    })()
    await reload({ signatures: 'required', keys: [key('key.asc'), key('other.asc')] })
    await service.sync()
    isOver = true
    await asking
    expect(scripts.filter((script) => !script.includes(`live sample ${second}`))).toEqual([])

    await reload({ signatures: 'required', keys: [key('other.asc')] })
    await eventually(
      async () => (await service.bootimages()).find(({ release }) => release === second),
      (image) => image?.failure?.code === 'SIGNATURE_INVALID',
    )
    expect(await service.script(unknownMac)).toContain('# Pilotlight: wait sample')
    for (const sha256 of digestsOfSet(site.set(second)))
      expect((await service.get(`/artifacts/${sha256}/x`)).status).toBe(503)
    await reload({ signatures: 'required', keys: [key('key.asc')] })
    await untilScript(`live sample ${second}`)
    expect(fileRequests().length).toBe(downloads)
  })
})

async function signatureOf(release: string, role: (typeof roles)[number]): Promise<Buffer> {
  const response = await fetch(`${site.origin}${site.pathOf(release, role)}.sig`)
  return Buffer.from(await response.arrayBuffer())
}
