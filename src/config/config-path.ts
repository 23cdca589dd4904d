/** Where a value stands: keys of mappings, indexes of lists. */
export type ConfigPath = readonly (string | number)[]

/** As people read it: `streams["rhcos-4.22"].mirrors[0]`. */
export function pathText(path: ConfigPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[A-Za-z0-9_-]+$/.test(part)) return `${text}[${JSON.stringify(part)}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** What stands at a path of plain data; `undefined` when nothing does. */
export function valueAt(data: unknown, path: ConfigPath): unknown {
  let value = data
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string | number, unknown>)[part]
  }
  return value
}
