import { describe, expect, test } from 'vitest'
import type { CatalogStream, ReadyBootimage } from '../../../src/core/catalog.ts'
import { republishStream } from '../../../src/http/boot/republish-stream.ts'
import { streamPlacesOf } from '../../../src/http/boot/stream-layout.ts'
import { makeBootimage, sha256Of } from '../../fakes/bootimages.ts'
import { readOnce, servedFile } from '../../fakes/catalogs.ts'

const baseUrl = 'http://192.0.2.10:8080'

function file(name: string, role: 'kernel' | 'disk' = 'disk') {
  return servedFile({ name, role, sha256: sha256Of(name) })
}

function imageOf(
  sketch: Parameters<typeof makeBootimage>[0],
  extra: Partial<ReadyBootimage> = {},
): ReadyBootimage {
  const bootimage = makeBootimage(sketch)
  const { kernel, initramfs, rootfs } = bootimage
  return {
    bootimage,
    kernel: servedFile(kernel),
    initramfs: servedFile(initramfs),
    rootfs: rootfs && servedFile(rootfs),
    disks: new Map(),
    ...extra,
  }
}

function streamOf(images: readonly ReadyBootimage[], extra: Partial<CatalogStream> = {}): CatalogStream {
  return {
    name: 'fcos-stable',
    architectures: ['x86_64'],
    byArch: new Map(
      images.map((current) => {
        const { arch } = current.bootimage
        return [arch, { arch, current, previous: [], releases: new Map() }]
      }),
    ),
    health: readOnce,
    ...extra,
  }
}

describe('stream metadata of what is current here', () => {
  test('the shape that CoreOS tools read, with our locations', () => {
    const image = imageOf({ release: '44.1' })
    const signed = { ...image, kernel: { ...image.kernel, signaturePath: '/x.sig' } }
    const stream = streamOf([signed], { label: 'stable', lastModified: Date.UTC(2026, 6, 7, 1, 2, 3, 456) })
    const location = (name: string) => `${baseUrl}/artifacts/${sha256Of(name)}/${name}`
    expect(republishStream(stream, baseUrl)).toEqual({
      stream: 'stable',
      metadata: { 'last-modified': '2026-07-07T01:02:03Z', generator: 'pilotlight' },
      architectures: {
        x86_64: {
          artifacts: {
            metal: {
              release: '44.1',
              formats: {
                pxe: {
                  kernel: {
                    location: location('44.1-kernel.x86_64'),
                    signature: `${location('44.1-kernel.x86_64')}.sig`,
                    sha256: sha256Of('44.1-kernel.x86_64'),
                  },
                  initramfs: {
                    location: location('44.1-initramfs.x86_64'),
                    sha256: sha256Of('44.1-initramfs.x86_64'),
                  },
                  rootfs: {
                    location: location('44.1-rootfs.x86_64'),
                    sha256: sha256Of('44.1-rootfs.x86_64'),
                  },
                },
              },
            },
          },
        },
      },
    })
  })

  test('each architecture has the release that is current for it', () => {
    const images = [imageOf({ release: '410.2' }), imageOf({ release: '49.1', arch: 'aarch64' })]
    const republished = republishStream(streamOf(images), baseUrl)
    expect(republished?.architectures.x86_64?.artifacts.metal?.release).toBe('410.2')
    expect(republished?.architectures.aarch64?.artifacts.metal?.release).toBe('49.1')
  })

  test('a stream without label and date shows its own name and the age of its files', () => {
    const republished = republishStream(streamOf([imageOf({})]), baseUrl)
    expect(republished).toMatchObject({
      stream: 'fcos-stable',
      metadata: { 'last-modified': '1970-01-01T00:00:05Z' },
    })
  })

  test('nothing while no architecture has anything', () => {
    const empty = { arch: 'x86_64' as const, previous: [], releases: new Map() }
    expect(republishStream(streamOf([], { byArch: new Map([['x86_64', empty]]) }), baseUrl)).toBeUndefined()
  })

  test('names that need escaping do not reach a URL', () => {
    const kernel = file('a b/../%2e?x#y "z"', 'kernel')
    const republished = republishStream(streamOf([imageOf({}, { kernel })]), baseUrl)
    const location = republished?.architectures.x86_64?.artifacts.metal?.formats.pxe?.kernel?.location
    expect(location).toMatch(new RegExp(`^${baseUrl}/artifacts/[0-9a-f]{64}/[A-Za-z0-9._+-]+$`))
  })

  test('a variant that is called like a part of every object is a platform like another', () => {
    const disks = new Map([['__proto__', file('x.raw.gz')]])
    const republished = republishStream(streamOf([imageOf({}, { disks })]), baseUrl)
    expect(JSON.stringify(republished)).toContain('"__proto__":{"release"')
  })
})

test('a legacy installer and its disk images have the places of old and new documents', () => {
  const image = imageOf(
    { kind: 'legacy-installer' },
    {
      disks: new Map([
        ['metal', file('rhcos-metal.x86_64.raw.gz')],
        ['metal4k', file('rhcos-metal4k.x86_64.raw.gz')],
        ['metal-bios', file('rhcos-metal-bios.raw.gz')],
        ['dasd', file('rhcos-dasd')],
      ]),
    },
  )
  expect(streamPlacesOf(image).map((place) => `${place.platform}/${place.format}/${place.artifact}`)).toEqual(
    [
      'metal/installer-pxe/kernel',
      'metal/installer-pxe/initramfs',
      'metal/raw.gz/disk',
      'metal/4k.raw.gz/disk',
      'metal-bios/raw.gz/disk',
      'dasd/raw/disk',
    ],
  )
})
