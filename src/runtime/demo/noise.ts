import { createCipheriv, createHash } from 'node:crypto'

/** A key stream: as incompressible as a real squashfs, and the same for the same seed. */
export function noise(seed: string, sizeBytes: number): Buffer {
  const key = createHash('sha256').update(seed).digest()
  return createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16)).update(Buffer.alloc(sizeBytes))
}
