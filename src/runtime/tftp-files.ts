import type { CatalogSource } from '../core/catalog.ts'
import type { Sha256 } from '../core/digest.ts'
import type { Inventory } from '../core/host.ts'
import { findLoader, type LoaderSource } from '../core/loader.ts'
import type { Renderer } from '../render/renderer.ts'
import type { FileUse, TftpAnswer, TftpFiles, TftpPeer } from '../tftp/files.ts'
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
  readonly configFor: (
    name: TftpConfigName,
    peer: TftpPeer,
  ) => { readonly text: string; readonly isEntry?: boolean } | undefined
  /** What files and admins say now. */
  readonly inventory: () => Pick<Inventory, 'hostsByMac' | 'hostsBySerial'>
}

/** What stands before the eight digits that a Raspberry Pi asks by, in the serial number that its OS shows. */
const longSerialPrefixes = ['', '10000000', '00000000']

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

  function isKnownSerial(serial: string): boolean {
    const { hostsBySerial } = options.inventory()
    return longSerialPrefixes.some(
      (prefix) =>
        hostsBySerial.has(`${prefix}${serial}`) || hostsBySerial.has(`${prefix}${serial}`.toUpperCase()),
    )
  }

  return {
    open(name, peer) {
      switch (name.kind) {
        case 'ipxe-script':
          return rendered(
            renderer.ipxeEntry({ baseUrl: options.baseUrlOf(peer.localAddress) }),
            'entry-script',
          )
        case 'grub-config':
        case 'pxelinux-config': {
          const config = options.configFor(name, peer)
          if (config === undefined) return notHere
          return rendered(config.text, config.isEntry === true ? 'entry-script' : 'boot-script')
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
        // A machine's own directory stands for the root when it is one of ours. For others a miss must come at once:
        // then the root is asked (field case 81).
        case 'serial-file':
          return isKnownSerial(name.serial) ? loader(name.file) : notHere
        case 'mac-file':
          return options.inventory().hostsByMac.has(name.mac) ? loader(name.file) : notHere
      }
    },
  }
}

function rendered(text: string, use: FileUse): TftpAnswer {
  return { kind: 'rendered', bytes: Buffer.from(text), use }
}
