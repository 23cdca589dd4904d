import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  Parser,
} from 'yaml'
import type { ConfigPath } from './config-path.ts'
import { type ConfigProblem, type Position, problemAt } from './problem.ts'
import { type YamlLimits, yamlData } from './yaml-data.ts'

/** A YAML file as plain data, with the way back from a value to its line. */
export interface YamlText {
  /** `undefined` when there are problems. */
  readonly value: unknown
  readonly problems: readonly ConfigProblem[]
  /** Where a value or its key stands; what is not there is looked for at the nearest thing around it. */
  position(path: ConfigPath, part?: 'key' | 'value'): Position
  /** The text of a scalar as it was written. */
  sourceOf(path: ConfigPath): string | undefined
}

const defaultLimits: YamlLimits = { depth: 32, nodes: 4_000_000, aliasedNodes: 10_000 }

/**
 * Reads one YAML 1.2 document strictly: no duplicate keys, no tags, no merge keys, one document, bounded depth and
 * aliases. Never throws: whatever the text is, it becomes data or problems with positions.
 */
export function readYaml(text: string, file: string, limits: YamlLimits = defaultLimits): YamlText {
  const lineCounter = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset)
    return { file, line: Math.max(1, line), column: Math.max(1, col) }
  }
  const failed = (problems: readonly ConfigProblem[]): YamlText => ({
    value: undefined,
    problems,
    position: () => ({ file, line: 1, column: 1 }),
    sourceOf: () => undefined,
  })
  const parsed = parse(text, lineCounter, limits.depth)
  if ('refusal' in parsed) {
    return failed([problemAt(positionAt(parsed.offset), [], `cannot be read as YAML: ${parsed.refusal}`)])
  }
  const { document } = parsed
  const syntax = [...document.errors, ...document.warnings]
  if (syntax.length > 0) {
    return failed(
      syntax.map(({ message, pos }) =>
        problemAt(positionAt(pos[0]), [], `cannot be read as YAML: ${message.split('\n', 1)[0]}`),
      ),
    )
  }
  const { explicit, version } = document.directives.yaml
  if (explicit && version !== '1.2') {
    return failed([problemAt({ file, line: 1, column: 1 }, [], `found YAML ${version}, allowed: YAML 1.2`)])
  }
  const { value, targets, refusals } = yamlData(document, limits)
  if (refusals.length > 0) {
    return failed(refusals.map(({ message, path, offset }) => problemAt(positionAt(offset), path, message)))
  }
  return {
    value,
    problems: [],
    position(path, part = 'value') {
      const { node, key } = findNode(document, path, targets)
      const found = part === 'key' ? (key ?? node) : (node ?? key)
      return positionAt(found?.range?.[0] ?? 0)
    },
    sourceOf(path) {
      const { node, isExact } = findNode(document, path, targets)
      return isExact && isScalar(node) ? node.source : undefined
    },
  }
}

type Parsed = { readonly document: Document.Parsed } | { readonly refusal: string; readonly offset: number }

/**
 * Syntax first, then nodes. Building nodes is recursive, and at the end of its stack Node 20 does not throw: a regular
 * expression that is compiled there ends the process ("RegExpCompiler Allocation failed"). So depth is checked before.
 */
function parse(text: string, lineCounter: LineCounter, maxDepth: number): Parsed {
  const tokens = [...new Parser(lineCounter.addNewLine).parse(text)]
  // A value is at most three tokens deep in its parent: collection, item, key or value.
  if (isDeeperThan(tokens, 3 * maxDepth)) return { refusal: 'it is nested too deeply', offset: 0 }
  // Duplicate keys are found later: the composer compares every key with every other.
  const composer = new Composer<ParsedNode>({ lineCounter, prettyErrors: false, uniqueKeys: false })
  const [document, second] = composer.compose(tokens, true, text.length)
  if (document === undefined) return { refusal: 'there is no document', offset: 0 }
  if (second !== undefined) return { refusal: 'there is more than one document', offset: second.range[0] }
  return { document }
}

function isDeeperThan(tokens: readonly CST.Token[], maxDepth: number): boolean {
  let level: unknown[] = [...tokens]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    const next: unknown[] = []
    for (const token of level) {
      const { value, key, items } = token as { value?: unknown; key?: unknown; items?: readonly unknown[] }
      for (const inner of [value, key]) if (typeof inner === 'object' && inner !== null) next.push(inner)
      for (const item of items ?? []) next.push(item)
    }
    level = next
  }
  return false
}

interface Found {
  readonly node?: Node
  /** The key in front of the node, where it has one. */
  readonly key?: Node
  /** The whole path was there. */
  readonly isExact: boolean
}

function findNode(document: Document.Parsed, path: ConfigPath, targets: ReadonlyMap<Node, Node>): Found {
  const resolved = (node: Node | null | undefined) => node && (targets.get(node) ?? node)
  let node: Node | null | undefined = document.contents
  let key: Node | undefined
  for (const part of path) {
    const container = resolved(node)
    if (isSeq(container)) {
      if (container.items[Number(part)] === undefined) return { node: container, key, isExact: false }
      node = container.items[Number(part)] as Node
      key = undefined
      continue
    }
    const pair = isMap(container)
      ? container.items.find((candidate) => isScalar(candidate.key) && candidate.key.value === part)
      : undefined
    if (pair === undefined) return { node: container ?? undefined, key, isExact: false }
    key = pair.key as Node
    node = pair.value as Node | null
  }
  return { node: resolved(node) ?? undefined, key, isExact: true }
}
