import { readEncapsulated } from './encapsulated.ts'

/** What an iPXE says it was built with, in option 175. */
export const ipxeFeatures = {
  pxeExtensions: 0x10,
  iscsi: 0x11,
  aoe: 0x12,
  http: 0x13,
  https: 0x14,
  tftp: 0x15,
  dns: 0x17,
  bzimage: 0x18,
  multiboot: 0x19,
  srp: 0x1b,
  pxe: 0x21,
  elf: 0x22,
  efi: 0x24,
  vlan: 0x26,
  menu: 0x27,
  nfs: 0x29,
} as const
export type IpxeFeature = keyof typeof ipxeFeatures

const names = Object.keys(ipxeFeatures) as readonly IpxeFeature[]

/** For the timeline alone: the script itself finds out what an iPXE can do. */
export function readIpxeFeatures(data: Uint8Array | undefined): readonly IpxeFeature[] {
  const codes = new Set(readEncapsulated(data).map(({ code }) => code))
  return names.filter((name) => codes.has(ipxeFeatures[name]))
}
