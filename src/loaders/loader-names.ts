import type { Arch } from '../core/arch.ts'
import type { LoaderKind, LoaderPlatform } from '../core/loader.ts'

/** A name under which a loader is served, whatever the file behind it is called. */
export interface LoaderName {
  readonly name: string
  /** What starts it; absent: not firmware, but another loader. */
  readonly platform?: LoaderPlatform
  readonly kind: LoaderKind
  /** Where builds and packages keep it, below a directory of loaders, the best first. */
  readonly candidates: readonly string[]
  /** Builds that do as well where none of the candidates is there. */
  readonly standIns: readonly string[]
  /** What supplies it. */
  readonly remedy: string
}

/** Where Debian and Fedora put what their packages hold. Looked through after an admin's own directories. */
export const defaultLoaderDirectories: readonly string[] = [
  '/usr/lib/ipxe',
  '/usr/share/ipxe',
  '/usr/lib/shim',
  '/usr/lib/grub',
  '/boot/efi/EFI/fedora',
  '/boot/efi/EFI/redhat',
  '/boot/efi/EFI/centos',
  '/usr/lib/PXELINUX',
  '/usr/lib/syslinux/modules/bios',
  '/usr/share/syslinux',
]

/** iPXE's build folder for a platform: upstream, and as it is published at boot.ipxe.org. */
function built(platform: string, file: string): readonly string[] {
  return [`bin-${platform}/${file}`, `${platform}/${file}`]
}

const ipxeX64 = [
  'ipxe.efi',
  'ipxe-x64.efi',
  'ipxe-amd64.efi',
  'ipxe-x86_64.efi',
  ...built('x86_64-efi', 'ipxe.efi'),
]
const snponlyX64 = [
  'snponly.efi',
  'snponly-x64.efi',
  'ipxe-snponly-x86_64.efi',
  ...built('x86_64-efi', 'snponly.efi'),
]
const ipxeArm64 = ['ipxe-arm64.efi', ...built('arm64-efi', 'ipxe.efi')]
const snponlyArm64 = ['snponly-arm64.efi', ...built('arm64-efi', 'snponly.efi')]
const make = (target: string) => `build it: make ${target} in ipxe/src`

function ipxe(
  name: string,
  platform: LoaderPlatform,
  candidates: readonly string[],
  standIns: readonly string[],
  remedy: string,
): LoaderName {
  return { name, platform, kind: 'ipxe', candidates, standIns, remedy }
}

/** iPXE for a platform for which no distribution has a package. */
function rareIpxe(platform: LoaderPlatform, suffix: string, folder: string): LoaderName {
  const name = `snponly-${suffix}.efi`
  const standIns = [`ipxe-${suffix}.efi`, ...built(folder, 'ipxe.efi')]
  return ipxe(
    name,
    platform,
    [name, ...built(folder, 'snponly.efi')],
    standIns,
    make(`bin-${folder}/snponly.efi`),
  )
}

/**
 * The one table of names. DHCP hands them out, TFTP and HTTP serve them, `pilotlight loaders` lists them.
 * Packages: Debian 12 and 13 `ipxe`, `shim-signed`, `grub-efi-amd64-signed`, `pxelinux`; Fedora `ipxe-bootimgs-x86`,
 * `ipxe-bootimgs-aarch64`, `shim-x64`, `grub2-efi-x64`, `syslinux-tftpboot`.
 */
export const loaderNames: readonly LoaderName[] = [
  ipxe(
    'undionly.kpxe',
    'bios',
    ['undionly.kpxe', 'bin/undionly.kpxe'],
    ['undionly.kkpxe', 'ipxe.pxe'],
    'apt install ipxe, or dnf install ipxe-bootimgs-x86',
  ),
  ipxe('snponly.efi', 'efi-x64', snponlyX64, ipxeX64, 'apt install ipxe, or dnf install ipxe-bootimgs-x86'),
  ipxe('ipxe.efi', 'efi-x64', ipxeX64, snponlyX64, 'apt install ipxe, or dnf install ipxe-bootimgs-x86'),
  ipxe(
    'snponly-arm64.efi',
    'efi-arm64',
    snponlyArm64,
    ipxeArm64,
    `apt install ipxe (Debian 13 or later), dnf install ipxe-bootimgs-aarch64, or ${make('bin-arm64-efi/snponly.efi')}`,
  ),
  ipxe(
    'ipxe-arm64.efi',
    'efi-arm64',
    ipxeArm64,
    snponlyArm64,
    `apt install ipxe (Debian 13 or later), dnf install ipxe-bootimgs-aarch64, or ${make('bin-arm64-efi/ipxe.efi')}`,
  ),
  ipxe(
    'ipxe-ia32.efi',
    'efi-ia32',
    ['ipxe-ia32.efi', 'ipxe-i386.efi', ...built('i386-efi', 'ipxe.efi')],
    ['ipxe-snponly-x86.efi', 'snponly-ia32.efi', ...built('i386-efi', 'snponly.efi')],
    make('bin-i386-efi/ipxe.efi'),
  ),
  rareIpxe('efi-arm32', 'arm32', 'arm32-efi'),
  rareIpxe('efi-riscv64', 'riscv64', 'riscv64-efi'),
  rareIpxe('efi-loong64', 'loong64', 'loong64-efi'),
  {
    name: 'shimx64.efi',
    platform: 'efi-x64',
    kind: 'shim',
    // Debian keeps an unsigned one beside it under the plain name.
    candidates: ['shimx64.efi.signed', 'shimx64.efi'],
    standIns: [],
    remedy: 'apt install shim-signed, or dnf install shim-x64',
  },
  {
    name: 'grubx64.efi',
    platform: 'efi-x64',
    kind: 'grub',
    // Debian's `grubx64.efi.signed` is for disks; the one for networks is `grubnetx64`.
    candidates: [
      'grubnetx64.efi.signed',
      'x86_64-efi-signed/grubnetx64.efi.signed',
      'grubx64.efi',
      'x86_64-efi/monolithic/grubnetx64.efi',
    ],
    standIns: [],
    remedy: 'apt install grub-efi-amd64-signed, or dnf install grub2-efi-x64',
  },
  {
    name: 'shimaa64.efi',
    platform: 'efi-arm64',
    kind: 'shim',
    candidates: ['shimaa64.efi.signed', 'shimaa64.efi'],
    standIns: [],
    remedy: 'apt install shim-signed, or dnf install shim-aa64, on an arm64 machine',
  },
  {
    name: 'grubaa64.efi',
    platform: 'efi-arm64',
    kind: 'grub',
    candidates: [
      'grubnetaa64.efi.signed',
      'arm64-efi-signed/grubnetaa64.efi.signed',
      'grubaa64.efi',
      'arm64-efi/monolithic/grubnetaa64.efi',
    ],
    standIns: [],
    remedy: 'apt install grub-efi-arm64-signed, or dnf install grub2-efi-aa64, on an arm64 machine',
  },
  {
    name: 'lpxelinux.0',
    platform: 'bios',
    kind: 'pxelinux',
    candidates: ['lpxelinux.0'],
    standIns: [],
    remedy: 'apt install pxelinux, or dnf install syslinux-tftpboot',
  },
  {
    name: 'pxelinux.0',
    platform: 'bios',
    kind: 'pxelinux',
    candidates: ['pxelinux.0'],
    standIns: [],
    remedy: 'apt install pxelinux, or dnf install syslinux-tftpboot',
  },
  {
    name: 'ldlinux.c32',
    kind: 'unknown',
    candidates: ['ldlinux.c32'],
    standIns: [],
    remedy: 'apt install syslinux-common, or dnf install syslinux-tftpboot',
  },
]

/** shim and the GRUB that it starts, under the names that they ask for each other by. */
export interface SecureBootPair {
  readonly arch: Arch
  readonly platform: LoaderPlatform
  readonly shim: string
  readonly grub: string
}

export const secureBootPairs: readonly SecureBootPair[] = [
  { arch: 'x86_64', platform: 'efi-x64', shim: 'shimx64.efi', grub: 'grubx64.efi' },
  { arch: 'aarch64', platform: 'efi-arm64', shim: 'shimaa64.efi', grub: 'grubaa64.efi' },
]

/** What firmware is handed first when nothing else is configured: DHCP's own table agrees with this one. */
export const firstLoaders = {
  bios: 'undionly.kpxe',
  'efi-ia32': 'ipxe-ia32.efi',
  'efi-x64': 'snponly.efi',
  'efi-arm32': 'snponly-arm32.efi',
  'efi-arm64': 'snponly-arm64.efi',
  'efi-riscv64': 'snponly-riscv64.efi',
  'efi-loong64': 'snponly-loong64.efi',
} as const satisfies Readonly<Record<LoaderPlatform, string>>
