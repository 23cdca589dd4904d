import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CorpusEntry {
  readonly name: string
  readonly bytes: Buffer
}

/** Datagrams that clients send, and those that broke servers. */
export const tftpCorpus: readonly CorpusEntry[] = readFileSync(
  join(import.meta.dirname, '../fixtures/tftp/corpus.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [name = '', hex = ''] = line.split(' ')
    return { name, bytes: Buffer.from(hex, 'hex') }
  })

/** A stream of numbers in [0, 1) that a seed fixes (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const interesting = [0x00, 0x01, 0x2e, 0x2f, 0x30, 0x39, 0x5c, 0x7f, 0x80, 0xff]

/** A datagram of the corpus with some bytes changed, cut, repeated or joined to another's; or noise altogether. */
export function mutatedDatagram(random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = () => tftpCorpus[below(tftpCorpus.length)]?.bytes ?? Buffer.alloc(0)
  if (random() < 0.05) return Buffer.from(Array.from({ length: below(64) }, () => below(256)))
  let bytes = Buffer.from(pick().subarray(0, 3_000))
  for (let changes = 1 + below(4); changes > 0 && bytes.length > 0; changes -= 1) {
    const at = below(bytes.length)
    switch (below(6)) {
      case 0:
        bytes[at] = below(256)
        break
      case 1:
        bytes[at] = interesting[below(interesting.length)] ?? 0
        break
      case 2:
        bytes = bytes.subarray(0, at)
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(below(at + 1))])
        break
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), pick().subarray(0, 600)])
        break
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([below(256)]), bytes.subarray(at)])
    }
  }
  return bytes
}
