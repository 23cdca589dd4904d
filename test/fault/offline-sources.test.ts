import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sampleStreamDocument } from '../../src/runtime/demo/sample-documents.ts'
import { makeSampleRelease, type SampleRelease } from '../../src/runtime/demo/sample-release.ts'
import { runCommand } from '../fakes/command-line.ts'
import {
  digestsOfBoot,
  digestsOfSet,
  type RunningService,
  startRunningService,
  untilCurrent,
} from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'
import { smallSizes, startUpstreamSite, type UpstreamSite } from '../fakes/upstream-site.ts'

const older = '44.20260601.3.0'
const newer = '44.20260622.3.0'
let folder: TemporaryDirectory
let service: RunningService | undefined
let site: UpstreamSite | undefined

beforeEach(async () => {
  folder = await makeTemporaryDirectory()
})
afterEach(async () => {
  await service?.remove()
  await site?.stop()
  await folder.remove()
  service = undefined
  site = undefined
})

const digestsOf = ({ sets }: SampleRelease) => sets.flatMap(digestsOfSet)

/** Files and document of a release as somebody carries them in: the files first, the document last and in one step. */
async function carryIn(release: SampleRelease): Promise<void> {
  await mkdir(join(folder.path, 'streams'), { recursive: true })
  const document = JSON.parse(sampleStreamDocument(release, 'https://builds.example', '2026-07-08T12:00:00Z'))
  for (const set of release.sets) {
    const { pxe } = document.architectures[set.arch].artifacts.metal.formats
    for (const role of ['kernel', 'initramfs', 'rootfs'] as const) {
      await writeFile(join(folder.path, set[role].name), set[role].bytes)
      pxe[role] = { location: `./${set[role].name}`, sha256: set[role].sha256 }
    }
  }
  const target = join(folder.path, 'streams/sample.json')
  await writeFile(`${target}.new`, JSON.stringify(document))
  await rename(`${target}.new`, target)
}

describe('without any network', () => {
  it('a folder with documents and files is followed, and what is carried in later by itself', async () => {
    const [one, two] = [older, newer].map((release) => makeSampleRelease(release, ['x86_64'], smallSizes))
    if (one === undefined || two === undefined) throw new Error('two releases are needed')
    await carryIn(one)
    service = await startRunningService({
      config: {
        streams: { sample: { source: { directory: folder.path }, refresh: '1h', signatures: 'off' } },
        profiles: { worker: { stream: 'sample', mode: 'live' } },
        unknown: { profile: 'worker' },
      },
    })
    await untilCurrent(service, older)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOf(one))
    await carryIn(two)
    await untilCurrent(service, newer)
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOf(two))

    // The folder gone, what is served stays (G4).
    await rename(folder.path, `${folder.path}-away`)
    await service.sync()
    expect(digestsOfBoot(await service.boot())).toEqual(digestsOf(two))
    expect((await service.readiness()).status).toBe(200)
    await rename(`${folder.path}-away`, folder.path)
  })

  it('G5 a pin to a release that only an imported document names waits until it is imported, then boots', async () => {
    site = await startUpstreamSite({ releases: [older, newer], current: newer })
    const { origin, streamUrl } = site
    const mac = '52:54:00:00:00:02'
    service = await startRunningService({
      site,
      stream: { source: { url: streamUrl } },
      hosts: [{ id: 'pinned', macs: [mac], profile: 'worker', pin: { release: older } }],
    })
    await untilCurrent(service, newer)
    expect(await service.script(mac)).toContain(
      `pinned release ${older} of sample is in no document known here`,
    )

    const file = join(folder.path, 'old.json')
    const [release] = site.releases
    if (release === undefined) throw new Error('the site is empty')
    await writeFile(file, sampleStreamDocument(release, origin, '2026-06-01T12:00:00Z'))
    const imported = await runCommand('import', file, '--stream', 'sample', '--config', service.configFile)
    expect([imported.code, imported.stderr]).toEqual([0, ''])
    expect(imported.stdout).toContain(older)
    const { boot, script, current } = service
    await eventually(
      () => script(mac),
      (text) => text.includes(`live sample ${older}`),
    )
    expect(digestsOfBoot(await boot({ mac }))).toEqual(digestsOfSet(site.set(older)))
    // An import is no move of the stream.
    expect(await current()).toBe(newer)
  })
})
