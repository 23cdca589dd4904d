/** A rendered script, cut at every place where the boot id stands. */
export type ScriptPieces = readonly string[]

/**
 * The stand-in that scripts are rendered with. A boot id is random, so this one comes up once in 2^132 boots, and then
 * only that boot's transfers would not be told apart.
 */
export const bootIdStandIn = '-'.repeat(22)

export interface ScriptCache {
  /** Taken from an earlier call with this key, or made now. What `render` throws is thrown, and nothing is kept. */
  pieces(key: string, render: () => string): ScriptPieces
}

/**
 * Keeps the scripts that were asked for of late. Two generations of half the size instead of a list in order of use:
 * a hit costs one lookup and nothing is moved.
 */
export function createScriptCache(maximum: number): ScriptCache {
  let young = new Map<string, ScriptPieces>()
  let old = new Map<string, ScriptPieces>()

  function keep(key: string, pieces: ScriptPieces): ScriptPieces {
    if (young.size >= maximum / 2) {
      old = young
      young = new Map()
    }
    young.set(key, pieces)
    return pieces
  }

  return {
    pieces(key, render) {
      return young.get(key) ?? keep(key, old.get(key) ?? render().split(bootIdStandIn))
    },
  }
}
