import { describe, expect, it } from 'vitest'
import type { Metadata, ParseHints } from '../../../src/streams/metadata.ts'
import { parseDocument } from '../../../src/streams/parse-document.ts'
import {
  bytesOf,
  firstRhcosDocument,
  metaDocument,
  rhcosDocument,
  sha,
} from '../../fixtures/streams/documents.ts'

const base = { baseUrl: 'https://builds.example/44/x86_64' }

function parse(document: unknown, hints: ParseHints = {}): Metadata {
  const parsed = parseDocument(bytesOf(document), hints)
  if (parsed.format === 'release-index') throw new Error('a release index')
  return parsed
}

describe('rhcos.json', () => {
  it('names files under baseURI; its last segment is the architecture', () => {
    const metadata = parse(rhcosDocument('46.82.202109180304-0', 's390x'), { arch: 'x86_64' })
    expect([...metadata.architectures.keys()]).toEqual(['s390x'])
    const location =
      'https://rhcos.example/art/storage/releases/rhcos-4.6/46.82.202109180304-0/s390x/' +
      'rhcos-46.82.202109180304-0-live-kernel.s390x.img'
    expect(metadata.architectures.get('s390x')?.live?.kernel).toEqual({
      role: 'kernel',
      name: 'rhcos-46.82.202109180304-0-live-kernel.s390x.img',
      sha256: sha('rhcos-46.82.202109180304-0-live-kernel'),
      location,
    })
    expect(metadata.architectures.get('s390x')?.disks.map(({ variant }) => variant)).toEqual([
      'metal',
      'metal4k',
    ])
  })

  it('the first one (4.1): path and sha256 alone, sizes as text, no architecture anywhere', () => {
    const entry = parse(firstRhcosDocument()).architectures.get('x86_64')
    expect(entry?.release).toBe('410.8.20190520.0')
    expect(entry).not.toHaveProperty('live')
    expect(entry?.installer?.kernel).not.toHaveProperty('sizeBytes')
    expect(entry?.disks.map(({ variant, sizeBytes }) => [variant, sizeBytes])).toEqual([
      ['metal-bios', 719954527],
      ['metal-uefi', 719954527],
    ])
  })

  it('the configuration can say the architecture that an old document does not', () => {
    const document = firstRhcosDocument()
    expect([...parse(document, { arch: 's390x' }).architectures.keys()]).toEqual(['s390x'])
    document.buildid = '42s390x.81.20191224.0'
    expect([...parse(document).architectures.keys()]).toEqual(['s390x'])
    document.buildid = '42devel.81.20191224.0'
    expect(() => parse(document)).toThrow(/^baseURI: .*expected a URL that ends in an architecture/)
    document.buildid = '45.82.202008010929-0'
    expect(() => parse(document)).toThrow(/^baseURI: /)
  })

  it('image names that agree on one tell the architecture, those that disagree do not', () => {
    const document = rhcosDocument('46.82.202109180304-0', 'ppc64le')
    document.baseURI = 'https://rhcos.example/builds'
    expect([...parse(document).architectures.keys()]).toEqual(['ppc64le'])
    expect(parse(document).architectures.get('ppc64le')?.live?.kernel.location).toContain('/builds/rhcos-46')
    document.images.metal.path = 'rhcos-metal.s390x.raw.gz'
    expect(() => parse(document)).toThrow(/^baseURI: /)
  })

  it('both sets (4.6 in development) are kept apart', () => {
    const names = ['kernel', 'initramfs', 'live-kernel', 'live-initramfs', 'metal']
    const entry = parse(rhcosDocument('46.82.202006192300-0', 'x86_64', names)).architectures.get('x86_64')
    expect(entry?.live).not.toHaveProperty('rootfs')
    expect(entry?.live?.kernel.location).toContain('-live-kernel.')
    expect(entry?.installer?.kernel.location).toContain('0-kernel.')
  })

  it.each([
    ['a rootfs alone', ['live-rootfs', 'metal'], 'images["live-kernel"]'],
    ['a kernel alone', ['kernel', 'metal'], 'images.initramfs'],
    ['an initramfs alone', ['initramfs', 'metal'], 'images.kernel'],
    [
      'a live set without kernel beside a whole installer',
      ['kernel', 'initramfs', 'live-initramfs'],
      'images.live-kernel',
    ],
    ['neither set', ['qemu'], 'images'],
  ])('%s is a problem', (_, names, field) => {
    const metadata = parse(rhcosDocument('46.82.202109242004-0', 'x86_64', names))
    expect(metadata.architectures.size).toBe(0)
    expect(metadata.problems[0]?.field.replace(/\["(.*)"\]/, '.$1')).toBe(field.replace(/\["(.*)"\]/, '.$1'))
  })

  it('the mainframe images of 4.2 and later have one name here', () => {
    const names = ['kernel', 'initramfs', 'metal-dasd', 'metal-zfcp']
    const old = parse(rhcosDocument('42s390x.81.20191224.0', 's390x', names)).architectures.get('s390x')
    expect(old?.disks.map(({ variant }) => variant)).toEqual(['dasd', 'zfcp'])
    const newer = ['kernel', 'initramfs', 'metal', 'dasd', 'metal-dasd']
    const both = parse(rhcosDocument('45.82.202006240257-0', 's390x', newer)).architectures.get('s390x')
    expect(both?.disks.map(({ name }) => name.replace(/^.*-0-/, ''))).toEqual([
      'metal.s390x.img',
      'dasd.s390x.img',
    ])
  })

  it.each([
    ['size', '12 MB', 'a number of bytes'],
    ['size', -1, 'a number of bytes'],
    ['size', 1.5, 'a number of bytes'],
    ['size', '0', 'a number of bytes'],
    ['sha256', `${'a'.repeat(63)}g`, '64 hex digits'],
    ['uncompressed-sha256', 'abc', '64 hex digits'],
    ['path', '../../rootfs.img', 'a bare file name'],
  ])('%s %j of an image is a problem that names it', (key, value, expected) => {
    const document = rhcosDocument()
    document.images['live-rootfs'][key] = value
    const [problem] = parse(document).problems
    expect(problem?.field).toBe(`images.live-rootfs.${key}`)
    expect(problem?.message).toContain(`expected ${expected}`)
  })

  it('a baseURI that is no web address is refused', () => {
    const document = rhcosDocument()
    document.baseURI = 'file:///srv/'
    expect(() => parse(document)).toThrow(/^baseURI: found "file:\/\/\/srv\/", expected an http or https URL/)
    document.baseURI = null
    expect(() => parse(document)).toThrow(/^baseURI: found null/)
  })
})

describe('meta.json', () => {
  it('lies where the configuration says', () => {
    const metadata = parse(metaDocument(), base)
    expect(metadata.lastModified).toBe(Date.UTC(2026, 6, 7, 10))
    const live = metadata.architectures.get('x86_64')?.live
    expect(live?.rootfs?.location).toBe(
      'https://builds.example/44/x86_64/fedora-coreos-44.20260707.3.1-live-rootfs.x86_64.img',
    )
  })

  it('may lie in a directory here', () => {
    const live = parse(metaDocument(), { baseUrl: 'file:///srv/build/' }).architectures.get('x86_64')?.live
    expect(live?.kernel.location).toMatch(/^file:\/\/\/srv\/build\/fedora-coreos-44/)
  })

  it('without a place is refused with what to configure', () => {
    expect(() => parse(metaDocument())).toThrow(
      /^baseURI: found nothing, expected it here, or a base URL in the configuration/,
    )
  })

  it('the architecture is its own, else configured, else in the image names', () => {
    const document = metaDocument('44.20260707.3.1', 'aarch64')
    expect([...parse(document, { ...base, arch: 'x86_64' }).architectures.keys()]).toEqual(['aarch64'])
    delete document['coreos-assembler.basearch']
    expect([...parse(document, { ...base, arch: 'x86_64' }).architectures.keys()]).toEqual(['x86_64'])
    expect([...parse(document, base).architectures.keys()]).toEqual(['aarch64'])
    for (const image of Object.values<{ path: string }>(document.images)) image.path = 'a.img'
    expect(() => parse(document, base)).toThrow(/^\["coreos-assembler\.basearch"\]: found nothing/)
    document['coreos-assembler.basearch'] = 'riscv64'
    expect(() => parse(document, base)).toThrow(/found "riscv64"/)
  })

  it('the first RHCOS document without its baseURI resolves with a configured one', () => {
    const document = firstRhcosDocument()
    delete document.baseURI
    const metadata = parse(document, { baseUrl: 'http://mirror.example/410' })
    expect(metadata.format).toBe('cosa-meta')
    expect(metadata.architectures.get('x86_64')?.installer?.kernel.location).toBe(
      'http://mirror.example/410/rhcos-410.8.20190520.0-kernel.img',
    )
  })

  it.each(['buildid', 'images'])('without %s is refused', (key) => {
    const document = metaDocument()
    delete document[key]
    expect(() => parse(document, base)).toThrow(new RegExp(`^${key}: found nothing`))
  })

  it('a broken disk image costs only itself', () => {
    const document = metaDocument()
    document.images.metal = []
    const metadata = parse(document, base)
    expect(metadata.architectures.get('x86_64')?.disks).toHaveLength(1)
    expect(metadata.problems[0]?.message).toBe('images.metal: found an array, expected an object')
  })
})
