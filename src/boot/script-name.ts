import type { Arch } from '../core/arch.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import { parseUuid, type Uuid } from '../core/uuid.ts'

/** Loaders that find their configuration by a list of names. */
export type NamingLoader = 'grub' | 'pxelinux'

/** Whom the name of a configuration means (field cases 80, 81; facts/netboot-clients §6). */
export type ScriptName =
  | { readonly by: 'mac'; readonly mac: MacAddress }
  | { readonly by: 'uuid'; readonly uuid: Uuid }
  /** Upper-case hex digits of an IPv4 address; with fewer than eight it means a network, and `address` is absent. */
  | { readonly by: 'address'; readonly hexPrefix: string; readonly address?: string }
  /** The last name of the list. `variant` is what U-Boot puts behind `default-`: `<arch>-<soc>-<board>`. */
  | { readonly by: 'default'; readonly variant?: string }
  /** A name of this kind that identifies nobody. */
  | { readonly by: 'other' }

const hardwareAddress = /^01-(.+)$/
const addressDigits = /^[0-9a-f]{1,8}$/i
const grubPrefix = 'grub.cfg'

/**
 * Reads the last part of a path: `grub.cfg`, `grub.cfg-01-52-54-00-ab-cd-ef`, `grub.cfg-C0000237`; `default`,
 * `01-52-54-00-ab-cd-ef`, `C0000237`, `default-arm-bcm2711`. `undefined` for what is no configuration of that loader.
 */
export function parseScriptName(loader: NamingLoader, name: string): ScriptName | undefined {
  if (loader === 'pxelinux') return parseKey(name)
  if (name === grubPrefix) return { by: 'default' }
  return name.startsWith(`${grubPrefix}-`) ? parseKey(name.slice(grubPrefix.length + 1)) : undefined
}

function parseKey(key: string): ScriptName {
  const mac = parseMac(hardwareAddress.exec(key)?.[1] ?? '')
  if (mac !== undefined) return { by: 'mac', mac }
  const uuid = parseUuid(key)
  if (uuid !== undefined) return { by: 'uuid', uuid }
  if (addressDigits.test(key)) return addressName(key.toUpperCase())
  if (key === 'default') return { by: 'default' }
  if (key.startsWith('default-')) return { by: 'default', variant: key.slice('default-'.length) }
  return { by: 'other' }
}

function addressName(hexPrefix: string): ScriptName {
  if (hexPrefix.length < 8) return { by: 'address', hexPrefix }
  const octets = [0, 2, 4, 6].map((at) => Number.parseInt(hexPrefix.slice(at, at + 2), 16))
  return { by: 'address', hexPrefix, address: octets.join('.') }
}

/** The architecture in U-Boot's `default-<arch>-…`; it says `arm` on 64-bit boards too, and 32-bit ones boot nothing here. */
export function archOfVariant(variant: string | undefined): Arch | undefined {
  return variant !== undefined && /^arm(?:64|v8)?(?:-|$)/.test(variant) ? 'aarch64' : undefined
}
