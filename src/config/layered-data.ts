import { type ConfigPath, valueAt } from './config-path.ts'
import { fillDefaults } from './fill-defaults.ts'
import { type ConfigOrigin, configOriginText } from './origin.ts'
import type { Overlay } from './overlay.ts'
import { type ConfigProblem, type Position, problemAt } from './problem.ts'
import type { YamlText } from './read-yaml.ts'
import { configSchema } from './schema.ts'
import type { SchemaNode } from './schema-parts.ts'
import type { SchemaProblem } from './validate.ts'

/** Something that can say where each of its values was written. */
export interface Located {
  position(path: ConfigPath, part?: 'key' | 'value'): Position
  sourceOf(path: ConfigPath): string | undefined
}

/** The configuration of all layers, not yet validated. */
export interface LayeredData extends Located {
  readonly data: unknown
  origin(path: ConfigPath): ConfigOrigin
}

/** Flags and environment over the file over the defaults, each value knowing which of them it is from. */
export function layerData(overlay: Overlay, yaml: YamlText | undefined): LayeredData {
  const setAt = (path: ConfigPath): ConfigOrigin | undefined => {
    for (let length = path.length; length > 0; length--) {
      const origin = overlay.origins.get(path.slice(0, length).join('.'))
      if (origin !== undefined) return origin
    }
    return undefined
  }
  const position = (path: ConfigPath, part?: 'key' | 'value'): Position => {
    const origin = setAt(path)
    if (origin !== undefined) return { file: configOriginText(origin) }
    return yaml?.position(path, part) ?? { file: 'default' }
  }
  return {
    data: fillDefaults(configSchema as SchemaNode, overlay.data),
    position,
    sourceOf: (path) => (setAt(path) === undefined ? yaml?.sourceOf(path) : undefined),
    origin(path) {
      const origin = setAt(path)
      if (origin !== undefined) return origin
      const value = yaml === undefined ? undefined : valueAt(yaml.value, path)
      if (yaml === undefined || value === undefined) return { kind: 'default' }
      // Where a mapping begins is where its key is.
      const { file, line = 1, column = 1 } = yaml.position(path, typeof value === 'object' ? 'key' : 'value')
      return { kind: 'file', file, line, column }
    },
  }
}

/** A mistake that the schema found, where it was written. */
export function locateProblem(problem: SchemaProblem, located: Located): ConfigProblem {
  const { path, part, message, hintFor } = problem
  const source = hintFor === undefined ? undefined : located.sourceOf(path)
  const hint = (source === undefined ? undefined : hintFor?.(source)) ?? problem.hint
  return problemAt(located.position(path, part), path, message, hint)
}

/** Collects what checks find in data that knows its positions. */
export interface Reporter {
  problem(path: ConfigPath, message: string, hint?: string, part?: 'key' | 'value'): void
  warn(path: ConfigPath, message: string, hint?: string, part?: 'key' | 'value'): void
}

export function createReporter(
  located: Located,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): Reporter {
  const add = (list: ConfigProblem[]): Reporter['problem'] => {
    return (path, message, hint, part) => {
      list.push(problemAt(located.position(path, part), path, message, hint))
    }
  }
  return { problem: add(problems), warn: add(warnings) }
}
