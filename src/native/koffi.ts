import { endianness } from 'node:os'

/** The part of the package `koffi` that is used; it is optional, so its own types may be absent. */
export interface Koffi {
  load(library: string | null): {
    func(prototype: string): (...values: unknown[]) => unknown
  }
  /** Holds only for buffers outside of V8's heap: it keeps small arrays, up to 64 bytes, in there and moves them. */
  address(bytes: Buffer): bigint | number
  errno(): number
}

/**
 * Loads the optional package. `undefined` when it is not installed, and on other systems than Linux: everything works
 * without it, by Node's own means.
 */
export async function loadKoffi(packageName = 'koffi'): Promise<Koffi | undefined> {
  if (process.platform !== 'linux') return undefined
  // A name in a variable: the compiler must not ask for the types of a package that may be absent.
  const loaded: unknown = await import(packageName).catch(() => undefined)
  if (typeof loaded !== 'object' || loaded === null) return undefined
  return ('default' in loaded ? loaded.default : loaded) as Koffi
}

/** Whether the kernel's structures lie in memory as they are written here. */
export function isLayoutKnown(): boolean {
  return ['x64', 'arm64'].includes(process.arch) && endianness() === 'LE'
}
