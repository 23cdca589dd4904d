import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Metadata, ParseHints, Resolution } from '../../src/streams/metadata.ts'
import { parseDocument } from '../../src/streams/parse-document.ts'
import { resolveBootimages } from '../../src/streams/resolve.ts'
import {
  bytesOf,
  configMap,
  firstRhcosDocument,
  metaDocument,
  releaseDocument,
  rhcosDocument,
  streamDocument,
} from '../fixtures/streams/documents.ts'

function resolve(document: unknown, hints: ParseHints = {}): Resolution {
  return resolveBootimages(parseDocument(bytesOf(document), hints) as Metadata, 'fcos-stable')
}

describe('resolveBootimages', () => {
  it('G2 a bootimage has kernel, initramfs and rootfs of one release and architecture', () => {
    const { bootimages, problems } = resolve(streamDocument())
    expect(problems).toEqual([])
    expect(bootimages.map(({ arch, release, kind }) => [arch, release, kind])).toEqual([
      ['x86_64', '44.20260707.3.1', 'live'],
      ['aarch64', '44.20260707.3.1', 'live'],
    ])
    for (const { arch, kernel, initramfs, rootfs, disks } of bootimages) {
      expect([kernel, initramfs, rootfs].map((artifact) => artifact?.role)).toEqual([
        'kernel',
        'initramfs',
        'rootfs',
      ])
      for (const artifact of [kernel, initramfs, rootfs])
        expect(artifact?.location).toContain(`/44.20260707.3.1/${arch}/`)
      expect(disks).toEqual([])
    }
  })

  it('is identified by stream, architecture, release and what is in the set, nothing else', () => {
    const [first] = resolve(streamDocument({ architectures: ['x86_64'] })).bootimages
    const text = `initramfs ${first?.initramfs.sha256}\nkernel ${first?.kernel.sha256}\nrootfs ${first?.rootfs?.sha256}\n`
    expect(first?.setDigest).toBe(createHash('sha256').update(text).digest('hex'))
    expect(first?.id).toBe(`fcos-stable/x86_64/44.20260707.3.1/${first?.setDigest.slice(0, 16)}`)

    const moved = streamDocument({ architectures: ['x86_64'], lastModified: '2026-08-01T00:00:00Z' })
    moved.architectures.x86_64.artifacts.metal.formats.pxe.kernel.location =
      'https://elsewhere.example/kernel'
    expect(resolve(moved).bootimages[0]?.id).toBe(first?.id)
    moved.architectures.x86_64.artifacts.metal.formats.pxe.kernel.sha256 = 'a'.repeat(64)
    expect(resolve(moved).bootimages[0]?.id).not.toBe(first?.id)
  })

  it('prefers the live set, and takes no file of the other', () => {
    const names = ['kernel', 'initramfs', 'live-kernel', 'live-initramfs', 'metal']
    const [bootimage] = resolve(rhcosDocument('46.82.202006192300-0', 'x86_64', names)).bootimages
    expect(bootimage?.kind).toBe('live')
    expect(bootimage?.kernel.name).toContain('live-kernel')
    expect(bootimage?.initramfs.name).toContain('live-initramfs')
    expect(bootimage).not.toHaveProperty('rootfs')
    expect(bootimage?.disks).toEqual([])
  })

  it('an early live set without rootfs is whole: its initramfs holds the system', () => {
    const document = streamDocument({ release: '31.20200108.3.0', architectures: ['x86_64'] })
    delete document.architectures.x86_64.artifacts.metal.formats.pxe.rootfs
    expect(resolve(document).bootimages[0]?.kind).toBe('live')
    expect(resolve(document).problems).toEqual([])
  })

  it('G3 a live set of today without rootfs is incomplete, in every format', () => {
    const stream = streamDocument({ architectures: ['x86_64'] })
    delete stream.architectures.x86_64.artifacts.metal.formats.pxe.rootfs
    const release = releaseDocument()
    delete release.architectures.x86_64.media.metal.artifacts.pxe.rootfs
    const rhcos = rhcosDocument()
    delete rhcos.images['live-rootfs']
    const meta = metaDocument()
    delete meta.images['live-rootfs']
    const fields = [stream, release, rhcos, meta, configMap({ stream })].map((document) => {
      const { bootimages, problems } = resolve(document, { baseUrl: 'https://builds.example/' })
      expect(bootimages).toEqual([])
      expect(problems[0]?.message).toContain(': found nothing, expected the rootfs of 4')
      return problems[0]?.field
    })
    expect(fields).toEqual([
      'architectures.x86_64.artifacts.metal.formats.pxe.rootfs',
      'architectures.x86_64.media.metal.artifacts.pxe.rootfs',
      'images.live-rootfs',
      'images.live-rootfs',
      'architectures.x86_64.artifacts.metal.formats.pxe.rootfs',
    ])
  })

  it('a release of unknown style may do without rootfs', () => {
    const document = streamDocument({ release: 'nightly', architectures: ['x86_64'] })
    delete document.architectures.x86_64.artifacts.metal.formats.pxe.rootfs
    expect(resolve(document).bootimages).toHaveLength(1)
  })

  it('the first RHCOS installs the image for the firmware, so both are in the set', () => {
    const [bootimage] = resolve(firstRhcosDocument()).bootimages
    expect(bootimage?.kind).toBe('legacy-installer')
    expect(bootimage?.release).toBe('410.8.20190520.0')
    expect(bootimage?.disks.map(({ variant }) => variant)).toEqual(['metal-bios', 'metal-uefi'])
  })

  it('an installer takes the images that it can write and no others', () => {
    const names = ['kernel', 'initramfs', 'metal', 'metal4k', 'dasd']
    const [bootimage] = resolve(rhcosDocument('45.82.202006240257-0', 's390x', names)).bootimages
    expect(bootimage?.disks.map(({ variant }) => variant)).toEqual(['metal', 'dasd'])
    const zfcp = rhcosDocument('42s390x.81.20191224.0', 's390x', ['kernel', 'initramfs', 'metal-zfcp'])
    expect(resolve(zfcp).bootimages[0]?.disks.map(({ variant }) => variant)).toEqual(['zfcp'])
    const dasd = rhcosDocument('42s390x.81.20191224.0', 's390x', ['kernel', 'initramfs', 'metal-dasd'])
    expect(resolve(dasd).bootimages[0]?.disks.map(({ variant }) => variant)).toEqual(['dasd'])
  })

  it('the installer of early FCOS takes the raw disk image', () => {
    const document = streamDocument({ release: '30.20190715.0', architectures: ['x86_64'] })
    const { formats } = document.architectures.x86_64.artifacts.metal
    formats['installer-pxe'] = formats.pxe
    delete formats.pxe
    const [bootimage] = resolve(document).bootimages
    expect(bootimage?.kind).toBe('legacy-installer')
    expect(bootimage).not.toHaveProperty('rootfs')
    expect(bootimage?.disks.map(({ variant }) => variant)).toEqual(['metal'])
  })

  it.each([
    ['no image', ['kernel', 'initramfs']],
    ['an image for BIOS alone', ['kernel', 'initramfs', 'metal-bios']],
    ['an image for 4096-byte sectors alone', ['kernel', 'initramfs', 'metal4k']],
  ])('an installer with %s has nothing to write', (_, names) => {
    const { bootimages, problems } = resolve(rhcosDocument('45.82.202008010929-0', 'x86_64', names))
    expect(bootimages).toEqual([])
    expect(problems).toHaveLength(1)
    expect(problems[0]?.message).toContain(
      'expected the disk image that the installer of 45.82.202008010929-0 writes',
    )
  })

  it('an installer whose image is broken says what is wrong with it', () => {
    const document = rhcosDocument('45.82.202008010929-0', 'x86_64', ['kernel', 'initramfs', 'metal'])
    document.images.metal.sha256 = 'abc'
    expect(resolve(document).problems.map(({ field }) => field)).toEqual(['images.metal.sha256'])
  })

  it('problems are those that cost an architecture its bootimage', () => {
    const document = streamDocument()
    document.architectures.x86_64.artifacts.metal.formats['raw.xz'].disk = null
    document.architectures.aarch64.artifacts.metal.formats.pxe = null
    const { bootimages, problems } = resolve(document)
    expect(bootimages.map(({ arch }) => arch)).toEqual(['x86_64'])
    expect(problems.map(({ arch }) => arch)).toEqual(['aarch64'])
  })
})
