import type { Arch } from '../core/arch.ts'
import type { Firmware } from '../core/client.ts'

/** What kind of first file a machine can start; each has its own loader. */
export const platforms = [
  'bios',
  'efi-ia32',
  'efi-x64',
  'efi-arm32',
  'efi-arm64',
  'efi-riscv64',
  'efi-loong64',
  'open-firmware',
  'opal',
  'uboot-arm32',
  'uboot-arm64',
  'raspberry-pi',
] as const
export type Platform = (typeof platforms)[number]

/** How the first file is fetched. `config`: the firmware is a loader itself and wants a PXELINUX configuration. */
export type FirstFetch = 'tftp' | 'http' | 'config'

export interface ClientArchitecture {
  readonly platform: Platform
  readonly fetch: FirstFetch
  readonly firmware: Firmware
  /** CPU architecture of the kernels it can run; absent where none of ours can. */
  readonly arch?: Arch
}

const efi = (platform: Platform, fetch: FirstFetch, arch?: Arch): ClientArchitecture => ({
  platform,
  fetch,
  firmware: 'uefi',
  ...(arch === undefined ? undefined : { arch }),
})

/**
 * Values of option 93 (IANA "Processor Architecture Types"). 7 and 9 both mean x64 UEFI in practice (field case 12).
 * A BIOS says nothing of its CPU: x86_64 is assumed and iPXE's entry script finds out.
 */
const byCode: Readonly<Record<number, ClientArchitecture>> = {
  0: { platform: 'bios', fetch: 'tftp', firmware: 'bios', arch: 'x86_64' },
  6: efi('efi-ia32', 'tftp'),
  7: efi('efi-x64', 'tftp', 'x86_64'),
  9: efi('efi-x64', 'tftp', 'x86_64'),
  10: efi('efi-arm32', 'tftp'),
  11: efi('efi-arm64', 'tftp', 'aarch64'),
  12: { platform: 'open-firmware', fetch: 'tftp', firmware: 'open-firmware', arch: 'ppc64le' },
  14: { platform: 'opal', fetch: 'config', firmware: 'open-firmware', arch: 'ppc64le' },
  15: efi('efi-ia32', 'http'),
  16: efi('efi-x64', 'http', 'x86_64'),
  18: efi('efi-arm32', 'http'),
  19: efi('efi-arm64', 'http', 'aarch64'),
  21: { platform: 'uboot-arm32', fetch: 'config', firmware: 'unknown' },
  22: { platform: 'uboot-arm64', fetch: 'config', firmware: 'unknown', arch: 'aarch64' },
  27: efi('efi-riscv64', 'tftp'),
  28: efi('efi-riscv64', 'http'),
  39: efi('efi-loong64', 'tftp'),
  40: efi('efi-loong64', 'http'),
  41: { platform: 'raspberry-pi', fetch: 'tftp', firmware: 'unknown', arch: 'aarch64' },
}

export function clientArchitecture(code: number): ClientArchitecture | undefined {
  return Object.hasOwn(byCode, code) ? byCode[code] : undefined
}

/**
 * The architecture in a vendor class such as `PXEClient:Arch:00007:UNDI:003000`: five digits, decimal by the
 * specification, hexadecimal from U-Boot's EFI boot method (`0000b`).
 */
export function architectureCodeOfVendorClass(vendorClass: string): number | undefined {
  const digits = /^(?:PXE|HTTP)Client:Arch:([0-9A-Fa-f]{5})(?::|$)/.exec(vendorClass)?.[1]
  if (digits === undefined) return undefined
  return Number.parseInt(digits, /^[0-9]+$/.test(digits) ? 10 : 16)
}
