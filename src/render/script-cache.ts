import { type CutScript, cutScript } from './cut-script.ts'

export interface ScriptCache {
  /** Taken from an earlier call with this key, or made now. What `render` throws is thrown, and nothing is kept. */
  pieces(key: string, render: () => string): CutScript
}

/**
 * Keeps the scripts that were asked for of late. Two generations of half the size instead of a list in order of use:
 * a hit costs one lookup and nothing is moved.
 */
export function createScriptCache(maximum: number): ScriptCache {
  let young = new Map<string, CutScript>()
  let old = new Map<string, CutScript>()

  function keep(key: string, pieces: CutScript): CutScript {
    if (young.size >= maximum / 2) {
      old = young
      young = new Map()
    }
    young.set(key, pieces)
    return pieces
  }

  return {
    pieces(key, render) {
      return young.get(key) ?? keep(key, old.get(key) ?? cutScript(render()))
    },
  }
}
