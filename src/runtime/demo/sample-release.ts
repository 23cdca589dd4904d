import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Arch } from '../../core/arch.ts'
import { noise } from './noise.ts'

/** Our own made-up artifacts: real bytes with real digests that no machine could boot. */
export interface SampleFile {
  readonly name: string
  readonly bytes: Buffer
  readonly sha256: string
}

export interface SampleSet {
  readonly arch: Arch
  readonly kernel: SampleFile
  readonly initramfs: SampleFile
  readonly rootfs: SampleFile
}

export interface SampleRelease {
  readonly release: string
  readonly sets: readonly SampleSet[]
}

export interface SampleSizes {
  readonly kernelBytes: number
  readonly initramfsBytes: number
  readonly rootfsBytes: number
}

/** Small enough to make in a second, large enough for transfers to be seen. */
export const demoSizes: SampleSizes = {
  kernelBytes: 1 << 20,
  initramfsBytes: 3 << 20,
  rootfsBytes: 16 << 20,
}

/** Makes a release from its name alone: the same name gives the same bytes everywhere. */
export function makeSampleRelease(
  release: string,
  arches: readonly Arch[],
  sizes: SampleSizes = demoSizes,
): SampleRelease {
  return { release, sets: arches.map((arch) => makeSet(release, arch, sizes)) }
}

function makeSet(release: string, arch: Arch, sizes: SampleSizes): SampleSet {
  const plain = noise(`${release} ${arch} kernel`, sizes.kernelBytes)
  // As in the real streams, where the aarch64 kernel is a gzip-compressed EFI image.
  const kernel = arch === 'aarch64' ? gzipSync(plain, { level: 1 }) : plain
  return {
    arch,
    kernel: sampleFile(`sample-${release}-live-kernel.${arch}`, kernel),
    initramfs: sampleFile(
      `sample-${release}-live-initramfs.${arch}.img`,
      noise(`${release} ${arch} initramfs`, sizes.initramfsBytes),
    ),
    rootfs: sampleFile(
      `sample-${release}-live-rootfs.${arch}.img`,
      noise(`${release} ${arch} rootfs`, sizes.rootfsBytes),
    ),
  }
}

function sampleFile(name: string, bytes: Buffer): SampleFile {
  return { name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
