import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleStreamDocument } from '../../src/runtime/demo/sample-documents.ts'
import type { SampleRelease } from '../../src/runtime/demo/sample-release.ts'
import {
  digestOf,
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { startUpstreamSite, streamPath, type UpstreamSite } from '../fakes/upstream-site.ts'

const release = '44.20260601.3.0'
let site: UpstreamSite
let service: RunningService

beforeAll(async () => {
  site = await startUpstreamSite({ releases: [release] })
  service = await startRunningService({ site })
  await untilCurrent(service, release)
})
afterAll(async () => {
  await service?.remove()
  await site?.stop()
})

/** The last part of a location as a document may spell it. */
const names = [
  'image.sig',
  '.sig',
  'image.SIG',
  'a%25b%20c',
  'a%3Fb%23c',
  '%C3%BCml%C3%A4ut',
  'ümläut',
  `${'long'.repeat(100)}.img`,
  `${'long'.repeat(100)}.sig`,
  '.hidden',
  'a+b=c,d;e',
  "it's$(x){y}",
  '%2e%2e',
  '%2E%2E%2Fup',
]

describe('an artifact with an odd name', () => {
  it.each(names)('G1 %s is served under the URL that every script prints', async (name) => {
    const { kernel, initramfs, rootfs } = site.set(release)
    const [sample] = site.releases as readonly [SampleRelease]
    const document = JSON.parse(sampleStreamDocument(sample, site.origin, '2026-07-08T12:00:00Z'))
    const { pxe } = document.architectures.x86_64.artifacts.metal.formats
    for (const [role, file] of Object.entries({ kernel, initramfs, rootfs })) {
      pxe[role].location = `${site.origin}/${role}/${name}`
      site.publish(new URL(pxe[role].location).pathname, file.bytes)
    }
    site.publish(streamPath, JSON.stringify(document))
    await service.sync()

    expect(digestsOfBoot(await service.boot())).toEqual(digestsOfSet(site.set(release)))
    const scripts = [
      await service.script('52:54:00:00:00:01'),
      (await service.get('/grub/boot?mac=52:54:00:00:00:01&arch=x86_64&platform=efi')).body.toString(),
      (await service.get('/pxelinux.cfg/01-52-54-00-00-00-01')).body.toString(),
      (await service.get('/streams/sample.json')).body.toString(),
    ]
    for (const script of scripts) {
      const targets = [...script.matchAll(/\/artifacts\/[0-9a-f]{64}\/[^\s'",)]+/g)].map(([target]) => target)
      expect(targets.length).toBeGreaterThan(2)
      for (const target of targets) {
        const { status, body } = await service.get(target)
        expect([target, status, digestOf(body)]).toEqual([target, 200, target.split('/')[2]])
      }
    }
  })

  it('G1 as an initrd of an admin is served as well', async () => {
    const bytes = Buffer.from('an archive of an admin')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const file = 'wrap ümläut#1?.sig'
    await writeFile(`${service.directory}/${file}`, bytes)
    const profiles = {
      worker: { stream: 'sample', mode: 'live', extraInitrds: [{ path: file, sha256 }] },
    }
    await service.writeConfig({ profiles })
    await service.control('/api/v1/reload')
    const boot = await service.boot()
    expect(digestsOfBoot(boot)).toContain(sha256)
  })
})
