import type { JsonNode } from './json-text.ts'

/** What a value of a config must look like. As in Ignition itself, `null` counts as absent. */
export type Shape =
  | { readonly kind: 'text' | 'integer' | 'boolean' }
  | { readonly kind: 'list'; readonly item: Shape }
  | {
      readonly kind: 'object'
      readonly keys: Readonly<Record<string, Shape>>
      /** Must be there. */
      readonly needed: readonly string[]
    }

export const text: Shape = { kind: 'text' }
export const integer: Shape = { kind: 'integer' }
export const boolean: Shape = { kind: 'boolean' }
export const texts: Shape = { kind: 'list', item: text }

export function list(item: Shape): Shape {
  return { kind: 'list', item }
}

export function object(keys: Readonly<Record<string, Shape>>, needed: readonly string[] = []): Shape {
  return { kind: 'object', keys, needed }
}

export interface ShapeFinding {
  /** `storage.files[0].mode` */
  readonly path: string
  readonly offset: number
  readonly message: string
  readonly isWarning: boolean
  /** For a key that is not known: those that are. */
  readonly wrongKey?: { readonly key: string; readonly known: readonly string[] }
}

const names = { text: 'text', integer: 'a whole number', boolean: 'true or false' } as const

/** Everything in which a value differs from its shape. A key that is not known is a warning: Ignition ignores it. */
export function shapeFindings(node: JsonNode, shape: Shape, path = ''): readonly ShapeFinding[] {
  const { value, offset } = node
  if (value === null) return []
  const wrong = (wanted: string): readonly ShapeFinding[] => [
    { path, offset, message: `found ${kindOf(value)}, allowed: ${wanted}`, isWarning: false },
  ]
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' ? [] : wrong(names.text)
    case 'integer':
      return Number.isInteger(value) ? [] : wrong(names.integer)
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong(names.boolean)
    case 'list':
      if (node.items === undefined) return wrong('a list')
      return node.items.flatMap((item, index) => shapeFindings(item, shape.item, `${path}[${index}]`))
    case 'object':
      return node.members === undefined ? wrong('an object') : objectFindings(node, shape, path)
  }
}

function objectFindings(
  { members = new Map(), offset }: JsonNode,
  { keys, needed }: Extract<Shape, { kind: 'object' }>,
  path: string,
): readonly ShapeFinding[] {
  const findings: ShapeFinding[] = []
  const inside = (key: string) => (path === '' ? key : `${path}.${key}`)
  for (const [key, { node, keyOffset }] of members) {
    const shape = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (shape !== undefined) findings.push(...shapeFindings(node, shape, inside(key)))
    else {
      const message = 'Ignition does not know this key and ignores it'
      const wrongKey = { key, known: Object.keys(keys) }
      findings.push({ path: inside(key), offset: keyOffset, message, isWarning: true, wrongKey })
    }
  }
  for (const key of needed) {
    if (members.get(key)?.node.value !== undefined && members.get(key)?.node.value !== null) continue
    findings.push({ path: inside(key), offset, message: 'is missing', isWarning: false })
  }
  return findings
}

/** The kind alone: a value in a wrong place may be a secret. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' ? 'a number' : 'true or false'
}
