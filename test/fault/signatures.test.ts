import { access, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
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

async function signatureOf(release: string, role: (typeof roles)[number]): Promise<Buffer> {
  const response = await fetch(`${site.origin}${site.pathOf(release, role)}.sig`)
  return Buffer.from(await response.arrayBuffer())
}
