import { type IgnitionConfig, readIgnition } from './read-ignition.ts'

/** Configs by their text, read once. */
export interface IgnitionShelf {
  /** `undefined` for a text that is no config. */
  configOf(text: string, isTemplate: boolean): IgnitionConfig | undefined
}

/** Bounded: beyond `maximum` those that were read first are read again when they are asked for. */
export function createIgnitionShelf(maximum = 1_000): IgnitionShelf {
  const templates = new Map<string, IgnitionConfig>()
  const plain = new Map<string, IgnitionConfig>()
  return {
    configOf(text, isTemplate) {
      const shelf = isTemplate ? templates : plain
      const known = shelf.get(text)
      if (known !== undefined) return known
      const { config } = readIgnition(text, { isTemplate })
      if (config === undefined) return undefined
      if (shelf.size >= maximum) shelf.clear()
      shelf.set(text, config)
      return config
    },
  }
}
