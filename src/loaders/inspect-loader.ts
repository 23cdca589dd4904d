import type { X509Certificate } from 'node:crypto'
import type { LoaderFeatures, LoaderKind, LoaderPlatform } from '../core/loader.ts'
import { signerCertificates, vendorCertificates } from './certificates.ts'
import { efiSubsystems, type PeImage, readPeImage } from './pe-image.ts'
import { readSbat, type SbatEntry } from './sbat.ts'

/** What the bytes of a file show: for which firmware they are, what they are, what they can do. */
export interface LoaderInspection {
  readonly format: 'pe' | 'bios' | 'other'
  /** The machine field of a PE image. */
  readonly machine?: number
  readonly platform?: LoaderPlatform
  readonly kind: LoaderKind
  readonly version?: string
  /** Absent where nothing can be seen. */
  readonly features?: LoaderFeatures
  /** Who signed it, one for each signature. */
  readonly signers: readonly X509Certificate[]
  /** Whose second stages it starts; of a shim. */
  readonly trusted: readonly X509Certificate[]
}

/** Values of the machine field (PE/COFF specification; field case 14). */
const platformOfMachine: Readonly<Record<number, LoaderPlatform>> = {
  34404: 'efi-x64',
  43620: 'efi-arm64',
  332: 'efi-ia32',
  450: 'efi-arm32',
  452: 'efi-arm32',
  20580: 'efi-riscv64',
  25188: 'efi-loong64',
}

/** As `8664`, the way in which the specification and its readers spell it. */
export function machineText(machine: number): string {
  return machine.toString(16).toUpperCase().padStart(4, '0')
}

/** Reads what can be seen. Never throws, whatever the bytes. */
export function inspectLoader(bytes: Buffer): LoaderInspection {
  const image = readPeImage(bytes)
  if (image !== undefined) return inspectPe(bytes, image)
  return isBootProgram(bytes) ? inspectBios(bytes) : inspectOther()
}

function inspectPe(bytes: Buffer, image: PeImage): LoaderInspection {
  const { machine, subsystem, sections, certificates } = image
  const sbat = readSbat(sections.get('.sbat') ?? Buffer.alloc(0))
  const vendor = sections.get('.vendor_cert')
  const kind = kindOfPe(bytes, sbat, vendor !== undefined)
  return {
    format: 'pe',
    machine,
    ...optional('platform', efiSubsystems.has(subsystem) ? platformOfMachine[machine] : undefined),
    kind,
    ...optional('version', versionOfPe(bytes, kind, sbat)),
    ...optional('features', featuresOf(bytes, kind)),
    signers: signerCertificates(certificates),
    trusted: vendor === undefined ? [] : vendorCertificates(vendor),
  }
}

/** MokManager and the fallback loader have shim's SBAT entry too; only shim itself carries certificates. */
function kindOfPe(bytes: Buffer, sbat: readonly SbatEntry[], hasVendorCertificates: boolean): LoaderKind {
  if (hasVendorCertificates) return 'shim'
  const has = (component: string) => sbat.some((entry) => entry.component === component)
  if (has('ipxe') || bytes.includes('iPXE/%s')) return 'ipxe'
  if (has('grub') || bytes.includes('GNU GRUB')) return 'grub'
  return 'unknown'
}

/** `1.0.0+git-20190125.36a4c85-5.1`, `1.21.1+ (g12ab)`: what iPXE prints after its name. */
const ipxeVersion = /\0([0-9]+\.[0-9]+\.[0-9]+\+[\x20-\x7e]{0,60})\0/

function versionOfPe(bytes: Buffer, kind: LoaderKind, sbat: readonly SbatEntry[]): string | undefined {
  if (kind === 'ipxe') {
    const said = sbat.find(({ component }) => component === 'ipxe')?.version
    return said ?? ipxeVersion.exec(bytes.toString('latin1'))?.[1]
  }
  // A distribution's own line has its patch level: `grub.debian` says 2.12-9+deb13u4 where `grub` says 2.12.
  const own = sbat.find(({ component }) => component.startsWith(`${kind}.`))
  return (own ?? sbat.find(({ component }) => component === kind))?.version
}

/** Whole words between zero bytes: names of commands, URL schemes and modules are kept so. */
function hasWord(bytes: Buffer, word: string): boolean {
  return bytes.includes(`\0${word}\0`)
}

function featuresOf(bytes: Buffer, kind: LoaderKind): LoaderFeatures | undefined {
  switch (kind) {
    case 'ipxe':
      return {
        http: hasWord(bytes, 'http'),
        https: hasWord(bytes, 'https'),
        vlan: hasWord(bytes, 'vcreate'),
      }
    case 'grub':
      // Its https comes from the HTTP driver of the firmware, where that has one: nothing to count on (case 100).
      return { http: hasWord(bytes, 'http'), https: false, vlan: hasWord(bytes, 'net_set_vlan') }
    case 'pxelinux':
      return { http: bytes.includes(' HTTP/1.0'), https: false, vlan: false }
    case 'shim':
    case 'unknown':
      return undefined
  }
}

/** A PXE ROM jumps to the first byte of what it has loaded to 0:7C00 (PXE specification 2.1, §4.4.5). */
function isBootProgram(bytes: Buffer): boolean {
  return bytes[0] === 0xea || bytes[0] === 0xeb || bytes[0] === 0xe9
}

function inspectBios(bytes: Buffer): LoaderInspection {
  const shared = { format: 'bios', platform: 'bios', signers: [], trusted: [] } as const
  // iPXE is compressed but for its first part, which says this when it looks for the ROM that loaded it.
  if (bytes.includes('PXE->EB:')) return { ...shared, kind: 'ipxe' }
  const pxelinux = /PXELINUX ([0-9][\x21-\x7e]{0,20})/.exec(bytes.toString('latin1'))
  if (pxelinux === null) return { ...shared, kind: bytes.includes('GRUB') ? 'grub' : 'unknown' }
  return {
    ...shared,
    kind: 'pxelinux',
    ...optional('version', pxelinux[1]),
    ...optional('features', featuresOf(bytes, 'pxelinux')),
  }
}

function inspectOther(): LoaderInspection {
  return { format: 'other', kind: 'unknown', signers: [], trusted: [] }
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: Value })
}
