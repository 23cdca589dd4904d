import { type IgnitionConfig, readIgnition } from './read-ignition.ts'

/** Configs by their text, read once. */
export interface IgnitionShelf {
  /** `undefined` for a text that is no config. */
  configOf(text: string, isTemplate: boolean): IgnitionConfig | undefined
}

/** A config takes some times its text in memory. */
const mostCharacters = 16 * 1024 * 1024

/** Bounded: beyond `maximum` characters everything is read again when it is asked for. */
export function createIgnitionShelf(maximum = mostCharacters): IgnitionShelf {
  const templates = new Map<string, IgnitionConfig>()
  const plain = new Map<string, IgnitionConfig>()
  let characters = 0

  function keep(shelf: Map<string, IgnitionConfig>, text: string, config: IgnitionConfig): void {
    characters += text.length
    if (characters > maximum) {
      templates.clear()
      plain.clear()
      characters = text.length
    }
    shelf.set(text, config)
  }

  return {
    configOf(text, isTemplate) {
      const shelf = isTemplate ? templates : plain
      const known = shelf.get(text)
      if (known !== undefined) return known
      const { config } = readIgnition(text, { isTemplate })
      if (config !== undefined) keep(shelf, text, config)
      return config
    },
  }
}
