import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import type { ConfigPath } from './config-path.ts'

export interface YamlLimits {
  readonly depth: number
  /** All values of a file; and how many of them may come from aliases, which can stand for many times their size. */
  readonly nodes: number
  readonly aliasedNodes: number
}

/** Something that YAML allows and a configuration does not. */
export interface YamlRefusal {
  readonly message: string
  readonly path: ConfigPath
  /** Characters from the start of the text. */
  readonly offset: number
}

export interface YamlData {
  readonly value: unknown
  /** What each alias stands for: the last node with that anchor before it (YAML 1.2 §7.1). */
  readonly targets: ReadonlyMap<Node, Node>
  readonly refusals: readonly YamlRefusal[]
}

/** Ends the conversion: there is too much to look at. */
class TooMuch extends Error {
  readonly refusal: YamlRefusal

  constructor(refusal: YamlRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/**
 * The document as plain data. Refused: keys that are not text or are there twice, tags, aliases without an anchor or
 * inside of what they name, and more nodes or depth than the limits allow.
 */
export function yamlData(document: Document.Parsed, limits: YamlLimits): YamlData {
  const anchors = new Map<string, Node>()
  const targets = new Map<Node, Node>()
  const refusals: YamlRefusal[] = []
  const open = new Set<Node>()
  let nodes = 0
  let aliasedNodes = 0

  function refuse(message: string, node: Node | null | undefined, path: ConfigPath): undefined {
    refusals.push({ message, path, offset: node?.range?.[0] ?? 0 })
  }

  function convert(node: Node | null | undefined, path: ConfigPath, isAliased: boolean): unknown {
    nodes++
    if (isAliased) aliasedNodes++
    if (nodes > limits.nodes || aliasedNodes > limits.aliasedNodes) {
      const message = isAliased ? 'its aliases stand for too many values' : 'it has too many values'
      throw new TooMuch({ message, path: [], offset: node?.range?.[0] ?? 0 })
    }
    if (path.length > limits.depth) {
      throw new TooMuch({ message: 'it is nested too deeply', path: [], offset: node?.range?.[0] ?? 0 })
    }
    if (node === null || node === undefined) return null
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target === undefined)
        return refuse(`there is no anchor &${node.source} before this alias`, node, path)
      if (open.has(target)) return refuse(`*${node.source} would contain itself`, node, path)
      targets.set(node, target)
      return convert(target, path, true)
    }
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return refuse('it cannot be read', node, path)
    if (node.tag !== undefined) return refuse(`found the tag ${node.tag}, allowed: no tags`, node, path)
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    if (isScalar(node)) return node.value ?? null
    open.add(node)
    const value = isMap(node)
      ? convertMap(node, path, isAliased)
      : node.items.map((item, index) => convert(item as Node | null, [...path, index], isAliased))
    open.delete(node)
    return value
  }

  function convertMap(map: YAMLMap, path: ConfigPath, isAliased: boolean): Record<string, unknown> {
    const data: Record<string, unknown> = {}
    for (const pair of map.items) {
      const key = pair.key as Node | null
      const name = keyName(key)
      if (name === undefined || name === '__proto__') {
        const written = isScalar(key) && key.source ? `, found ${key.source}` : ''
        refuse(
          name === undefined ? `a key must be plain text${written}` : `"${name}" cannot be a key`,
          key ?? map,
          path,
        )
        continue
      }
      const inside = [...path, name]
      if (Object.hasOwn(data, name)) {
        refuse('this key is there twice', key, inside)
        continue
      }
      data[name] = convert(pair.value as Node | null, inside, isAliased)
    }
    return data
  }

  try {
    return { value: convert(document.contents, [], false), targets, refusals }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { value: undefined, targets, refusals: [...refusals, error.refusal] }
  }
}

function keyName(key: Node | null): string | undefined {
  const isPlain = isScalar(key) && key.tag === undefined && key.anchor === undefined
  return isPlain && typeof key.value === 'string' ? key.value : undefined
}
