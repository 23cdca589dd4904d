import type { PayloadArch, PayloadRelease, Role } from './payload.ts'

/** As Fedora CoreOS names its files. */
export function artifactName(release: string, arch: PayloadArch, role: Role): string {
  const part = {
    kernel: `live-kernel.${arch}`,
    initramfs: `live-initramfs.${arch}.img`,
    rootfs: `live-rootfs.${arch}.img`,
  }
  return `fedora-coreos-${release}-${part[role]}`
}

/** A stream document of Fedora CoreOS's shape; the files lie beside it, in a folder for each release. */
export function streamDocument(releases: readonly PayloadRelease[]): string {
  const architectures = Object.fromEntries(
    releases.map(({ release, arch, digests }) => {
      const artifact = (role: Role) => ({
        location: `${release}/${artifactName(release, arch, role)}`,
        sha256: digests[role],
      })
      const pxe = {
        kernel: artifact('kernel'),
        initramfs: artifact('initramfs'),
        rootfs: artifact('rootfs'),
      }
      return [arch, { artifacts: { metal: { release, formats: { pxe } } }, images: {} }]
    }),
  )
  const metadata = { 'last-modified': '2026-11-01T00:00:00Z', generator: 'pilotlight boot tests' }
  return `${JSON.stringify({ stream: 'stable', metadata, architectures }, null, 2)}\n`
}
