import type { BootId } from '../core/boot-event.ts'

const idBytes = 16
/** Asking the random source once for many ids costs less than once for each. */
const idsPerDraw = 256

/** Makes boot ids: 128 random bits as 22 URL-safe characters, unguessable as long as the source is. */
export function createBootIdMint(randomBytes: (size: number) => Uint8Array): () => BootId {
  let pool = Buffer.alloc(0)
  let used = 0
  return function mintBootId() {
    if (used === pool.length) {
      pool = Buffer.from(randomBytes(idsPerDraw * idBytes))
      used = 0
    }
    used += idBytes
    return pool.toString('base64url', used - idBytes, used) as BootId
  }
}
