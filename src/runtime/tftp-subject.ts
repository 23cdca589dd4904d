import type { Arch } from '../core/arch.ts'
import type { TftpFileRole } from '../core/boot-event.ts'
import type { CatalogSource } from '../core/catalog.ts'
import { archOfLoader, findLoader, type LoaderSource } from '../core/loader.ts'
import type { FileUse } from '../tftp/files.ts'
import type { TftpName } from '../tftp/tftp-name.ts'

/** What a file that went out by TFTP is to a boot. */
export interface TftpSubject {
  readonly role: TftpFileRole
  /** As artifacts are told of by HTTP: `kernel`, `initramfs`, `loader` … */
  readonly artifactRole: string
  readonly loaderArch?: Arch
}

/** What Raspberry Pi ROMs fetch first; nothing in its bytes says so. */
const raspberryPiLoader = /^(?:bootcode\.bin|start[a-z0-9]*\.elf)$/

const script: TftpSubject = { role: 'script', artifactRole: 'script' }
const other: TftpSubject = { role: 'other', artifactRole: 'other' }

/** Tells by the catalogues of this moment; asked after the packets have left. */
export function createTftpSubject({
  catalog,
  loaders,
}: {
  readonly catalog: CatalogSource
  readonly loaders: LoaderSource
}): (name: TftpName, use: FileUse | undefined) => TftpSubject {
  function ofLoader(path: string): TftpSubject {
    const found = findLoader(loaders.current(), path.split('/'))
    const isLoader = found !== undefined && (found.kind !== 'unknown' || found.platform !== undefined)
    if (!isLoader) return raspberryPiLoader.test(path) ? { role: 'loader', artifactRole: 'loader' } : other
    const loaderArch = archOfLoader(found)
    return { role: 'loader', artifactRole: 'loader', ...(loaderArch && { loaderArch }) }
  }

  return function tftpSubject(name, use) {
    if (use !== undefined) return script
    switch (name.kind) {
      case 'ipxe-script':
      case 'grub-config':
      case 'pxelinux-config':
        return script
      case 'artifact': {
        const artifactRole = catalog.current().files.get(name.sha256)?.role ?? 'other'
        return { role: 'artifact', artifactRole }
      }
      case 'serial-file':
      case 'mac-file':
        return ofLoader(name.file)
      case 'file':
      case 'grub-file':
        return ofLoader(name.path)
    }
  }
}
