import type { Arch } from './arch.ts'
import type { MacAddress } from './mac.ts'
import type { Uuid } from './uuid.ts'

export type Firmware = 'bios' | 'uefi' | 'open-firmware' | 'unknown'
export type Loader = 'none' | 'ipxe' | 'grub' | 'pxelinux' | 'http-boot'

/**
 * What a machine said of itself, whatever protocol it spoke. Every field was parsed and bounded at the edge;
 * nothing here may enter a script other than through the typed fields.
 */
export interface BootClient {
  /** The MAC that asks first, then any others it named. */
  readonly macs: readonly MacAddress[]
  readonly uuid?: Uuid
  /** Trimmed; vendors' placeholders are already left out. */
  readonly serial?: string
  readonly arch?: Arch
  readonly firmware: Firmware
  readonly loader: Loader
  /** IP address it spoke from. */
  readonly address?: string
}
