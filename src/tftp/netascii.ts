const lf = 0x0a
const cr = 0x0d
const nul = 0x00

/**
 * Converts for mode `netascii` (RFC 764 as cited by RFC 1350 §1): LF becomes CR LF, CR becomes CR NUL, whatever stands
 * beside them. The conversion is exact both ways, so the size that is announced is the size that is sent.
 */
export function toNetascii(bytes: Buffer): Buffer {
  let extra = 0
  for (const byte of bytes) if (byte === lf || byte === cr) extra += 1
  if (extra === 0) return bytes
  const converted = Buffer.allocUnsafe(bytes.length + extra)
  let at = 0
  for (const byte of bytes) {
    if (byte === lf) converted[at++] = cr
    converted[at++] = byte
    if (byte === cr) converted[at++] = nul
  }
  return converted
}
