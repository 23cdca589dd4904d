declare const uuidBrand: unique symbol

/** A machine UUID in lower case with hyphens, in the byte order in which it was read. */
export type Uuid = string & { readonly [uuidBrand]: true }

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Vendors leave these in SMBIOS; they name thousands of machines and so none. */
const placeholders: ReadonlySet<string> = new Set([
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '03000200-0400-0500-0006-000700080009',
  '00020003-0004-0005-0006-000700080009',
  '12345678-1234-5678-90ab-cddeefaabbcc',
  '78563412-3412-7856-90ab-cddeefaabbcc',
  '01234567-89ab-cdef-0123-456789abcdef',
])

/** A Raspberry Pi's boot ROM repeats its 4-byte serial four times where the UUID belongs (field case 45). */
const repeatedWord = /^([0-9a-f]{8})\1{3}$/

/** Reads a UUID in any case; `undefined` for malformed text, vendors' placeholders and a repeated serial. */
export function parseUuid(text: string): Uuid | undefined {
  const lower = text.trim().toLowerCase()
  if (!pattern.test(lower) || placeholders.has(lower)) return undefined
  if (repeatedWord.test(lower.replaceAll('-', ''))) return undefined
  return lower as Uuid
}

/**
 * The same machine's UUID with its first three fields byte-swapped: SMBIOS 2.6 little-endian fields
 * against network order. Firmware, iPXE, OS and BMC disagree, so both spellings match one host.
 */
export function swapUuidByteOrder(uuid: Uuid): Uuid {
  const swap = (field: string) => (field.match(/../g) as string[]).reverse().join('')
  const [a = '', b = '', c = '', ...rest] = uuid.split('-')
  return [swap(a), swap(b), swap(c), ...rest].join('-') as Uuid
}

const hexOctets = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'))

/** The UUID in 16 raw bytes, in the order in which they stand; `undefined` as in `parseUuid`. */
export function uuidFromBytes(bytes: Uint8Array): Uuid | undefined {
  if (bytes.length !== 16) return undefined
  let text = ''
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-'
    text += hexOctets[bytes[index] as number]
  }
  return placeholders.has(text) ? undefined : (text as Uuid)
}
