/**
 * A GRUB 2 as far as scripts can tell: the words of its shell (quotes, backslashes, variables, comments) and the few
 * commands and blocks that a boot needs. Strict where GRUB is lenient: an unknown command, a stray special character
 * or an open block is an error. Time passes only in `sleeps`.
 */
export interface GrubWorld {
  /** `net_default_mac`, `grub_cpu`, … */
  readonly variables?: Readonly<Record<string, string>>
  /** Text of what is at a path such as `(http,192.0.2.10)/grub/boot?mac=…`; `false`: it did not arrive. */
  readonly fetch?: (path: string, count: number) => boolean | string
  /** Files on the disks of the machine, by path: the disk that holds them. */
  readonly disks?: Readonly<Record<string, string>>
  /** Whether what was loaded starts. */
  readonly boot?: (count: number) => boolean
  readonly lacks?: readonly string[]
  /** The run is broken off after so many sleeps. */
  readonly sleepsAtMost?: number
}

export interface GrubRun {
  readonly end:
    | { readonly kind: 'booted' }
    /** `cameFrom`: what the loader is told that it came from, which is `root`, whatever its path says. */
    | { readonly kind: 'chainloaded'; readonly path: string; readonly cameFrom: string }
    | { readonly kind: 'left'; readonly status: number }
    | { readonly kind: 'ended' }
    | { readonly kind: 'still-running' }
  readonly console: readonly string[]
  readonly sleeps: readonly number[]
  readonly paths: readonly string[]
  readonly commands: ReadonlySet<string>
  readonly kernel?: { readonly path: string; readonly words: readonly string[] }
  readonly initrds: readonly string[]
}

/** A piece of a word: text that means itself, or text in which variables are still to be put. */
type Piece = { readonly text: string } | { readonly variable: string; readonly isQuoted: boolean }
export type GrubWord = readonly Piece[]

/** One command of a script, before anything is expanded. */
export interface GrubCommand {
  readonly words: readonly GrubWord[]
  readonly line: number
}

const space = /[ \t]/
const variableName = /^(?:\{([A-Za-z0-9_]+|\?)\}|([A-Za-z_][A-Za-z0-9_]*)|(\?))/

/** Splits a script into commands of words by GRUB's rules (GRUB manual, "Shell-like scripting: Quoting"). */
export function grubCommands(script: string): readonly GrubCommand[] {
  const commands: GrubCommand[] = []
  let words: GrubWord[] = []
  let pieces: Piece[] | undefined
  let line = 1
  const literal = (text: string) => {
    pieces = [...(pieces ?? []), { text }]
  }
  const endWord = () => {
    if (pieces !== undefined) words.push(pieces)
    pieces = undefined
  }
  const endCommand = () => {
    endWord()
    if (words.length > 0) commands.push({ words, line })
    words = []
  }
  const variable = (at: number, isQuoted: boolean): number => {
    const match = variableName.exec(script.slice(at + 1))
    if (match === null) {
      literal('$')
      return at
    }
    pieces = [...(pieces ?? []), { variable: match[1] ?? match[2] ?? match[3] ?? '', isQuoted }]
    return at + match[0].length
  }
  for (let at = 0; at < script.length; at += 1) {
    const character = script[at] ?? ''
    if (character === "'") {
      const end = script.indexOf("'", at + 1)
      if (end === -1) throw new Error(`line ${line}: an open single quote`)
      literal(script.slice(at + 1, end))
      at = end
    } else if (character === '"') {
      literal('')
      for (at += 1; script[at] !== '"'; at += 1) {
        if (at >= script.length) throw new Error(`line ${line}: an open double quote`)
        if (script[at] === '$') at = variable(at, true)
        else if (script[at] === '\\' && /["$\\]/.test(script[at + 1] ?? '')) {
          at += 1
          literal(script[at] ?? '')
        } else literal(script[at] ?? '')
      }
    } else if (character === '\\') {
      at += 1
      literal(script[at] ?? '')
    } else if (character === '$') at = variable(at, false)
    else if (character === '\n' || character === ';') {
      endCommand()
      if (character === '\n') line += 1
    } else if (space.test(character)) endWord()
    else if (character === '#' && pieces === undefined) {
      const end = script.indexOf('\n', at)
      at = (end === -1 ? script.length : end) - 1
    } else if (/[{}|&<>]/.test(character)) throw new Error(`line ${line}: a stray ${character}`)
    else literal(character)
  }
  endCommand()
  return commands
}

/** The words of a line that has no variables. */
export function grubWords(line: string): readonly string[] {
  return grubCommands(line).flatMap(({ words }) => words.map((word) => expandWord(word, new Map()).join(' ')))
}

/** A word with its variables; outside of quotes an empty one vanishes and blanks split. */
function expandWord(word: GrubWord, variables: ReadonlyMap<string, string>): readonly string[] {
  let text = ''
  let isQuoted = false
  for (const piece of word) {
    if ('text' in piece) {
      isQuoted = true
      text += piece.text
    } else {
      isQuoted ||= piece.isQuoted
      text += variables.get(piece.variable) ?? ''
    }
  }
  return text === '' && !isQuoted ? [] : [text]
}

interface Branch {
  /** Absent: `else`. */
  readonly condition?: readonly Block[]
  readonly body: readonly Block[]
}

type Block =
  | { readonly kind: 'command'; readonly command: GrubCommand }
  | { readonly kind: 'if'; readonly branches: readonly Branch[] }
  | { readonly kind: 'while'; readonly condition: readonly Block[]; readonly body: readonly Block[] }
  | { readonly kind: 'for'; readonly command: GrubCommand; readonly body: readonly Block[] }

const leading: ReadonlySet<string> = new Set(['if', 'elif', 'then', 'else', 'while', 'do', 'fi', 'done'])

/** Keywords as commands of their own, so that `if linux x` is `if` and then `linux x`. */
function withKeywordsApart(commands: readonly GrubCommand[]): readonly GrubCommand[] {
  return commands.flatMap(({ words, line }) => {
    const apart: GrubCommand[] = []
    let rest = words
    while (leading.has(plainWord(rest[0]))) {
      apart.push({ words: rest.slice(0, 1), line })
      rest = rest.slice(1)
    }
    return rest.length === 0 ? apart : [...apart, { words: rest, line }]
  })
}

function plainWord(word: GrubWord | undefined): string {
  return word?.every((piece) => 'text' in piece) ? expandWord(word, new Map()).join('') : ''
}

function readScript(script: string): readonly Block[] {
  const commands = withKeywordsApart(grubCommands(script))
  let at = 0

  /** Blocks until one of these keywords, which is passed over and returned. */
  function readUntil(...ends: readonly string[]): {
    readonly blocks: readonly Block[]
    readonly end: string
  } {
    const blocks: Block[] = []
    for (; at < commands.length; ) {
      const word = plainWord(commands[at]?.words[0])
      if (ends.includes(word)) {
        at += 1
        return { blocks, end: word }
      }
      blocks.push(readBlock())
    }
    if (ends.length > 0) throw new Error(`no ${ends.join(' or ')}`)
    return { blocks, end: '' }
  }

  function readBlock(): Block {
    const command = commands[at] as GrubCommand
    const word = plainWord(command.words[0])
    at += 1
    if (word === 'if') return readIf()
    if (word === 'while') {
      const condition = readUntil('do').blocks
      return { kind: 'while', condition, body: readUntil('done').blocks }
    }
    if (word === 'for') {
      if (readUntil('do').blocks.length > 0) throw new Error(`line ${command.line}: for without do`)
      return { kind: 'for', command, body: readUntil('done').blocks }
    }
    if (leading.has(word)) throw new Error(`line ${command.line}: a stray ${word}`)
    return { kind: 'command', command }
  }

  function readIf(): Block {
    const branches: Branch[] = []
    for (;;) {
      const condition = readUntil('then').blocks
      const { blocks: body, end } = readUntil('elif', 'else', 'fi')
      branches.push({ condition, body })
      if (end === 'else') branches.push({ body: readUntil('fi').blocks })
      if (end !== 'elif') return { kind: 'if', branches }
    }
  }

  return readUntil().blocks
}

class Left extends Error {
  readonly end: GrubRun['end']
  constructor(end: GrubRun['end']) {
    super('left')
    this.end = end
  }
}

export function runGrub(script: string, world: GrubWorld = {}): GrubRun {
  const variables = new Map(Object.entries({ root: 'http,192.0.2.10', ...world.variables }))
  const console: string[] = []
  const sleeps: number[] = []
  const paths: string[] = []
  const commands = new Set<string>()
  const counts = new Map<string, number>()
  let kernel: GrubRun['kernel']
  let initrds: readonly string[] = []
  let chained: { readonly path: string; readonly cameFrom: string } | undefined

  function fetch(path: string): boolean | string {
    if (!/^\(http,[^)]+\)\/./.test(path)) throw new Error(`not an absolute path on a server: ${path}`)
    paths.push(path)
    const count = (counts.get(path) ?? 0) + 1
    counts.set(path, count)
    return world.fetch?.(path, count) ?? true
  }

  /** As good as the last of them; nothing at all is good. */
  function runBlocks(blocks: readonly Block[]): boolean {
    let isGood = true
    for (const block of blocks) isGood = runBlock(block)
    return isGood
  }

  function runBlock(block: Block): boolean {
    switch (block.kind) {
      case 'command':
        return run(wordsOf(block.command))
      case 'if':
        for (const { condition, body } of block.branches) {
          if (condition === undefined || runBlocks(condition)) return runBlocks(body)
        }
        return true
      case 'while':
        while (runBlocks(block.condition)) runBlocks(block.body)
        return true
      case 'for': {
        const [, name = '', , ...values] = wordsOf(block.command)
        for (const value of values) {
          variables.set(name, value)
          runBlocks(block.body)
        }
        return true
      }
    }
  }

  function wordsOf({ words }: GrubCommand): readonly string[] {
    return words.flatMap((word) => expandWord(word, variables))
  }

  function run([name = '', ...words]: readonly string[]): boolean {
    commands.add(name)
    if (world.lacks?.includes(name)) {
      console.push(`error: can't find command ${name}`)
      return false
    }
    switch (name) {
      case 'true':
      case 'insmod':
        return true
      case '[':
        return test(words)
      case 'set': {
        const [, variable = '', value = ''] = /^([^=]+)=(.*)$/s.exec(words.join(' ')) ?? []
        variables.set(variable, value)
        return true
      }
      case 'echo':
        console.push(words.join(' '))
        return true
      case 'sleep': {
        sleeps.push(Number(words.at(-1)))
        if (sleeps.length >= (world.sleepsAtMost ?? 1000)) throw new Left({ kind: 'still-running' })
        return true
      }
      case 'net_bootp':
        variables.set('net_default_mac', variables.get('net_default_mac') || '52:54:00:ab:cd:ef')
        return true
      case 'smbios':
        variables.set(words.at(-1) ?? '', '00112233-4455-6677-8899-aabbccddeeff')
        return true
      case 'source':
      case 'configfile': {
        const text = fetch(words[0] ?? '')
        if (typeof text === 'string') runScript(text)
        return true
      }
      case 'linux': {
        const [path = '', ...rest] = words
        initrds = []
        kernel = undefined
        if (fetch(path) === false) return false
        kernel = { path, words: rest }
        return true
      }
      case 'initrd':
        if (words.some((path) => fetch(path) === false)) return false
        initrds = words
        return true
      case 'search': {
        const file = words.at(-1) ?? ''
        const disk = world.disks?.[file]
        const variable = words.find((word) => word.startsWith('--set='))?.slice('--set='.length)
        if (disk !== undefined && variable !== undefined) variables.set(variable, disk)
        return disk !== undefined
      }
      case 'chainloader': {
        const [path = ''] = words
        if (path.startsWith('(http,')) {
          if (fetch(path) === false) return false
        } else if (!Object.entries(world.disks ?? {}).some(([file, disk]) => `(${disk})${file}` === path)) {
          return false
        }
        chained = { path, cameFrom: variables.get('root') ?? '' }
        return true
      }
      case 'boot': {
        const count = (counts.get('boot') ?? 0) + 1
        counts.set('boot', count)
        if (world.boot?.(count) === false) return false
        throw new Left(chained === undefined ? { kind: 'booted' } : { kind: 'chainloaded', ...chained })
      }
      case 'exit':
        throw new Left({ kind: 'left', status: Number(words[0] ?? 0) })
      default:
        throw new Error(`an unknown command: ${name}`)
    }
  }

  function test(words: readonly string[]): boolean {
    if (words.at(-1) !== ']') throw new Error('a test without its end')
    const [a = '', operator, b] = words.slice(0, -1)
    if (a === '-z') return (operator ?? '') === ''
    if (operator === '=') return a === b
    if (operator === '!=') return a !== b
    throw new Error(`a test that is not understood: ${words.join(' ')}`)
  }

  function runScript(text: string): boolean {
    return runBlocks(readScript(text))
  }

  const result = (end: GrubRun['end']): GrubRun => ({
    end,
    console,
    sleeps,
    paths,
    commands,
    ...(kernel === undefined ? {} : { kernel }),
    initrds,
  })
  try {
    runScript(script)
    return result({ kind: 'ended' })
  } catch (error) {
    if (error instanceof Left) return result(error.end)
    throw error
  }
}
