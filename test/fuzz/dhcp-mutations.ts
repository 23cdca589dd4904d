import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fixture, hex } from '../dhcp/support.ts'

/** A small seeded generator (mulberry32), so that a failing input can be made again from its number. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) % below
  }
}

/** Real packets to start from. */
export const seeds: readonly Uint8Array[] = readdirSync(join(import.meta.dirname, '../fixtures/dhcp'))
  .filter((name) => name.endsWith('.hex'))
  .sort()
  .map((name) => fixture(name.slice(0, -'.hex'.length)))

const interesting = [0, 1, 2, 3, 4, 5, 6, 16, 17, 52, 53, 60, 66, 67, 82, 93, 97, 127, 128, 175, 254, 255]

/** One input: a real packet with a few bytes changed, options moved, doubled, cut or invented; or noise. */
export function mutate(random: (below: number) => number): Uint8Array {
  if (random(20) === 0) return noise(random)
  let bytes: Uint8Array = Uint8Array.from(seeds[random(seeds.length)] as Uint8Array)
  for (let step = random(6); step >= 0; step--) bytes = mutateOnce(bytes, random)
  return bytes
}

function mutateOnce(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  if (bytes.length === 0) return bytes
  const at = random(bytes.length)
  switch (random(8)) {
    case 0:
      bytes[at] = random(256)
      return bytes
    case 1:
      bytes[at] = interesting[random(interesting.length)] as number
      return bytes
    case 2:
      return bytes.subarray(0, at)
    case 3:
      return splice(bytes, Math.min(240 + random(60), bytes.length), randomOption(random))
    case 4: {
      // An option area inside the header, announced by option 52.
      if (bytes.length < 240) return bytes
      bytes.set(randomOption(random).subarray(0, 60), random(2) === 0 ? 44 : 108)
      return splice(bytes, 240, Uint8Array.of(52, 1, random(5)))
    }
    case 5: {
      const length = random(40)
      return splice(bytes, Math.min(240, bytes.length), bytes.slice(at, at + length))
    }
    case 6:
      bytes.fill(random(256), at, at + random(30))
      return bytes
    default:
      return splice(bytes, bytes.length, new Uint8Array(random(600)).fill(random(2) * 255))
  }
}

function randomOption(random: (below: number) => number): Uint8Array {
  const length = random(4) === 0 ? random(256) : random(20)
  const data = Uint8Array.from({ length }, () => random(256))
  // Sometimes the length is a lie.
  return Uint8Array.of(
    interesting[random(interesting.length)] as number,
    random(10) === 0 ? random(256) : length,
    ...data,
  )
}

function noise(random: (below: number) => number): Uint8Array {
  const bytes = Uint8Array.from({ length: random(1600) }, () => random(256))
  if (random(2) === 0 && bytes.length >= 240) {
    bytes[0] = 1
    bytes[2] = random(18)
    bytes.set(hex('63825363'), 236)
  }
  return bytes
}

function splice(bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length + more.length)
  result.set(bytes.subarray(0, at))
  result.set(more, at)
  result.set(bytes.subarray(at), at + more.length)
  return result
}
