import { parseSha256, type Sha256 } from '../core/digest.ts'
import { type MacAddress, parseMac } from '../core/mac.ts'
import { parseUuid, type Uuid } from '../core/uuid.ts'
import type { TftpPath } from './file-name.ts'

/** Whom a configuration file name means. Loaders walk from the most to the least specific (field case 80). */
export type ConfigKey =
  | { readonly by: 'mac'; readonly mac: MacAddress }
  | { readonly by: 'uuid'; readonly uuid: Uuid }
  /** Upper-case hex of an IPv4 address, possibly shortened; `address` when all eight digits are there. */
  | { readonly by: 'address'; readonly hexPrefix: string; readonly address?: string }
  /** `default`, and U-Boot's `default-<arch>-<soc>-<board>` (then `variant` holds what follows the hyphen). */
  | { readonly by: 'default'; readonly variant?: string }
  /** A name of the kind that identifies nobody: a vendor's placeholder UUID, a file that an admin might have put there. */
  | { readonly by: 'other' }

/** What a request is for. `path` is always the whole name, for answers that look files up by it. */
export type TftpName =
  | { readonly kind: 'file'; readonly path: TftpPath }
  /** `autoexec.ipxe` is what iPXE looks for beside itself (case 84); `boot.ipxe` is the entry script. */
  | { readonly kind: 'ipxe-script'; readonly path: TftpPath; readonly file: 'autoexec.ipxe' | 'boot.ipxe' }
  | { readonly kind: 'pxelinux-config'; readonly path: TftpPath; readonly key: ConfigKey }
  | { readonly kind: 'grub-config'; readonly path: TftpPath; readonly key: ConfigKey }
  /** What GRUB looks for under its prefix: module lists, fonts, `grubenv`. `file` is the part after `grub/`. */
  | { readonly kind: 'grub-file'; readonly path: TftpPath; readonly file: string }
  /** A Raspberry Pi asks in a directory of its own first: serial number or MAC (case 81). */
  | { readonly kind: 'serial-file'; readonly path: TftpPath; readonly serial: string; readonly file: string }
  | { readonly kind: 'mac-file'; readonly path: TftpPath; readonly mac: MacAddress; readonly file: string }
  /** A verified file, for loaders that know no HTTP. */
  | { readonly kind: 'artifact'; readonly path: TftpPath; readonly sha256: Sha256; readonly name: string }

const ethernetMac = /^01-((?:[0-9a-f]{2}-){5}[0-9a-f]{2})$/i
const hyphenMac = /^(?:[0-9a-f]{2}-){5}[0-9a-f]{2}$/i
const addressHex = /^[0-9a-f]{1,8}$/i
const serialDirectory = /^[0-9a-f]{8}$/i

function addressKey(hex: string): ConfigKey {
  const hexPrefix = hex.toUpperCase()
  if (hexPrefix.length < 8) return { by: 'address', hexPrefix }
  const octets = [0, 2, 4, 6].map((at) => Number.parseInt(hexPrefix.slice(at, at + 2), 16))
  return { by: 'address', hexPrefix, address: octets.join('.') }
}

/** Reads the last part of a PXELINUX name or the suffix of a `grub.cfg-…`, in any case. */
function parseConfigKey(text: string): ConfigKey {
  const macText = ethernetMac.exec(text)?.[1]
  const mac = macText === undefined ? undefined : parseMac(macText)
  if (mac !== undefined) return { by: 'mac', mac }
  const uuid = parseUuid(text)
  if (uuid !== undefined) return { by: 'uuid', uuid }
  if (addressHex.test(text)) return addressKey(text)
  if (text === 'default') return { by: 'default' }
  if (text.startsWith('default-')) return { by: 'default', variant: text.slice('default-'.length) }
  return { by: 'other' }
}

/** The four hex octets by which PXELINUX and GRUB spell an IPv4 address: 192.0.2.55 is `C0000237`. */
export function addressHexOf(address: string): string {
  return address
    .split('.')
    .map((octet) => Number(octet).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}

/**
 * Tells what a name asks for. Loaders put `pxelinux.cfg/…` and `grub.cfg…` under the directory that they came from,
 * so the last parts decide, wherever they are.
 */
export function classifyName(path: TftpPath): TftpName {
  const parts = path.split('/')
  const last = parts.at(-1) ?? ''
  const [first = '', second = '', third] = parts

  if (first === 'artifacts' && third !== undefined && parts.length === 3) {
    const sha256 = parseSha256(second)
    if (sha256 !== undefined) return { kind: 'artifact', path, sha256, name: third }
  }
  if (parts.at(-2) === 'pxelinux.cfg') return { kind: 'pxelinux-config', path, key: parseConfigKey(last) }
  if (last === 'grub.cfg') return { kind: 'grub-config', path, key: { by: 'default' } }
  if (last.startsWith('grub.cfg-')) {
    return { kind: 'grub-config', path, key: parseConfigKey(last.slice('grub.cfg-'.length)) }
  }
  if (last === 'autoexec.ipxe' || last === 'boot.ipxe') return { kind: 'ipxe-script', path, file: last }
  if (parts.length > 1) {
    const file = parts.slice(1).join('/')
    const mac = hyphenMac.test(first) ? parseMac(first) : undefined
    if (mac !== undefined) return { kind: 'mac-file', path, mac, file }
    if (serialDirectory.test(first)) return { kind: 'serial-file', path, serial: first.toLowerCase(), file }
    if (first === 'grub') return { kind: 'grub-file', path, file }
  }
  return { kind: 'file', path }
}
