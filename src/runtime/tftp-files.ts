import type { CatalogSource } from '../core/catalog.ts'
import type { Sha256 } from '../core/digest.ts'
import { findLoader, type LoaderSource } from '../core/loader.ts'
import type { Renderer } from '../render/renderer.ts'
import type { TftpAnswer, TftpFiles, TftpPeer } from '../tftp/files.ts'
import type { TftpName } from '../tftp/tftp-name.ts'

export type TftpConfigName = Extract<TftpName, { kind: 'grub-config' | 'pxelinux-config' }>

export interface TftpFilesOptions {
  readonly catalog: CatalogSource
  readonly loaders: LoaderSource
  readonly renderer: Pick<Renderer, 'ipxeEntry'>
  /** A verified file is not on disk as it was. */
  readonly onFileProblem: (sha256: Sha256) => void
  /** Our URL for a client that asked this address of ours. */
  readonly baseUrlOf: (address: string) => string
  /** A GRUB or PXELINUX configuration by the name that a loader asks for; `undefined` for nobody we know. */
  readonly configFor: (name: TftpConfigName, peer: TftpPeer) => string | undefined
}

const notHere: TftpAnswer = { kind: 'refused', code: 1, message: 'File not found' }

/** What TFTP serves: loaders, scripts, and verified artifacts for loaders that know no HTTP. */
export function createTftpFiles(options: TftpFilesOptions): TftpFiles {
  const { catalog, loaders, renderer } = options

  function loader(path: string): TftpAnswer {
    const found = findLoader(loaders.current(), path.split('/'))
    if (found === undefined) return notHere
    const { sizeBytes, modifiedAt, sha256 } = found
    return { kind: 'disk', path: found.path, sizeBytes, id: `${sha256} ${modifiedAt}` }
  }

  return {
    open(name, peer) {
      switch (name.kind) {
        case 'ipxe-script':
          return rendered(renderer.ipxeEntry({ baseUrl: options.baseUrlOf(peer.localAddress) }))
        case 'grub-config':
        case 'pxelinux-config': {
          const text = options.configFor(name, peer)
          return text === undefined ? notHere : rendered(text)
        }
        case 'artifact': {
          const file = catalog.current().files.get(name.sha256)
          if (file === undefined) return notHere
          const { sha256, path, sizeBytes, identity } = file
          const onChanged = () => options.onFileProblem(sha256)
          // Of another file with these bytes nothing is shared, least of all a descriptor.
          return { kind: 'disk', path, sizeBytes, id: `${sha256} ${identity}`, identity, onChanged }
        }
        case 'file':
        case 'grub-file':
          return loader(name.path)
        // A machine's own directory: a miss must come at once, then the root is asked (field case 81).
        case 'serial-file':
        case 'mac-file':
          return notHere
      }
    },
  }
}

function rendered(text: string): TftpAnswer {
  return { kind: 'rendered', bytes: Buffer.from(text) }
}
