/** Little-endian numbers at offsets that a hostile file names: outside of the bytes there is nothing. */
export function u16(bytes: Buffer, offset: number): number | undefined {
  return offset >= 0 && offset + 2 <= bytes.length ? bytes.readUInt16LE(offset) : undefined
}

export function u32(bytes: Buffer, offset: number): number | undefined {
  return offset >= 0 && offset + 4 <= bytes.length ? bytes.readUInt32LE(offset) : undefined
}

/** `length` bytes from `offset`, or `undefined` when not all of them are there. */
export function slice(bytes: Buffer, offset: number, length: number): Buffer | undefined {
  if (offset < 0 || length < 0 || offset + length > bytes.length) return undefined
  return bytes.subarray(offset, offset + length)
}
