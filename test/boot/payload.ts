import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { cpioArchive } from './cpio-archive.ts'
import { artifactName } from './stream-document.ts'

export type PayloadArch = 'x86_64' | 'aarch64'
export type Role = 'kernel' | 'initramfs' | 'rootfs'
export const roles: readonly Role[] = ['kernel', 'initramfs', 'rootfs']

/** A bootimage whose files are on disk, below the folder that holds the stream document. */
export interface PayloadRelease {
  readonly release: string
  readonly arch: PayloadArch
  readonly digests: Readonly<Record<Role, string>>
}

const rig = resolve(import.meta.dirname, 'rig')
const usualRootfsBytes = 8 << 20

/** Kept from run to run: a kernel and an initramfs for each architecture, and loaders. */
const cache = join(process.env.XDG_CACHE_HOME ?? tmpdir(), 'pilotlight-boot')

/** A Debian kernel and an initramfs that behaves as a node's; made once, with the package mirror. */
function builtPayload(arch: PayloadArch): string {
  const debian = arch === 'x86_64' ? 'amd64' : 'arm64'
  const directory = join(cache, `payload-${debian}`)
  execFileSync(join(rig, 'build-payload'), ['--arch', debian, directory], { stdio: 'inherit' })
  return directory
}

/** Loaders newer than those of Debian 12: iPXE for arm64, and in `debian/` a shim and a GRUB that are signed. */
export function newerLoaders(): string {
  const directory = join(cache, 'loaders')
  execFileSync(join(rig, 'fetch-loaders'), [directory], { stdio: 'inherit' })
  return directory
}

/**
 * Writes the files of a release below `directory`. The initramfs carries the release's name, so that the booted node
 * says which it was; with `isUnique` the kernel differs from that of any other release, and loses its signature.
 */
export function makeRelease(
  directory: string,
  release: string,
  arch: PayloadArch,
  { isUnique = false, rootfsBytes = usualRootfsBytes } = {},
): PayloadRelease {
  const payload = builtPayload(arch)
  const kernel = readFileSync(join(payload, 'vmlinuz'))
  const contents: Record<Role, Buffer> = {
    kernel: isUnique ? Buffer.concat([kernel, paddedText(`kernel of ${release}`)]) : kernel,
    initramfs: Buffer.concat([
      readFileSync(join(payload, 'initrd.gz')),
      cpioArchive('release', `${release}\n`),
    ]),
    rootfs: noise(`${release} ${arch}`, rootfsBytes),
  }
  const digests = { kernel: '', initramfs: '', rootfs: '' }
  mkdirSync(join(directory, release), { recursive: true })
  for (const role of roles) {
    writeFileSync(join(directory, release, artifactName(release, arch, role)), contents[role])
    digests[role] = createHash('sha256').update(contents[role]).digest('hex')
  }
  return { release, arch, digests }
}

/** As long as a sector, so that no loader minds what comes after a kernel's end. */
function paddedText(text: string): Buffer {
  return Buffer.concat([Buffer.from(text), Buffer.alloc(512)], 512)
}

/** Bytes that compress no better than a real root file system, the same for the same name. */
function noise(name: string, length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update(name).digest()
}
