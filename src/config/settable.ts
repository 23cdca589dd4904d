import { configSchema } from './schema.ts'
import type { SchemaNode } from './schema-parts.ts'

/** A value that a flag or an environment variable can set. */
export interface Settable {
  /** `['boot', 'http', 'listen']` */
  readonly path: readonly string[]
  /** `boot.http.listen`: the key of `flags` in `loadConfig`. */
  readonly key: string
  /** `--boot-http-listen` */
  readonly flag: string
  /** `PILOTLIGHT_BOOT_HTTP_LISTEN` */
  readonly variable: string
  readonly description: string
  /** A list is written with commas. */
  readonly isList: boolean
  /** Its parent may also be a single value, which it then replaces (`unknown: ignore`). */
  readonly replacesParent: boolean
  readonly schema: SchemaNode
}

/**
 * One rule for all names: every single value, or list of texts, that is reached by fixed keys alone. What lies behind
 * a name that an admin chose (a stream, a profile) belongs into the file.
 */
export function settables(): readonly Settable[] {
  return collect(configSchema as SchemaNode, [], false).filter(({ key }) => key !== 'version')
}

function collect(schema: SchemaNode, path: readonly string[], replacesParent: boolean): readonly Settable[] {
  if (schema.anyOf !== undefined) {
    const [first, ...others] = schema.anyOf
    const description = schema.description ?? first?.description
    return [
      ...(first === undefined ? [] : collect({ ...first, description }, path, false)),
      ...others.flatMap((form) => collect(form, path, true)),
    ]
  }
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([key, inner]) =>
      collect(inner, [...path, key], replacesParent),
    )
  }
  const isList = schema.type === 'array'
  const isSingle = schema.type === 'string' || schema.enum !== undefined
  if (!isSingle && !(isList && schema.items?.type === 'string')) return []
  const words = path.map(kebab)
  return [
    {
      path,
      key: path.join('.'),
      flag: `--${words.join('-')}`,
      variable: `PILOTLIGHT_${words.join('_').replaceAll('-', '_').toUpperCase()}`,
      description: schema.description ?? '',
      isList,
      replacesParent,
      schema,
    },
  ]
}

/** `dataDir` becomes `data-dir`. */
function kebab(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
