/**
 * An iPXE of 2019 as far as scripts can tell: its rules for lines, words and `||`, and the commands that Debian 12's
 * build has. Strict where iPXE is: an unknown command, an option it does not know or a wrong number of words fails,
 * and a failing line without `||` ends the script. Time passes only in `sleeps`.
 */
export interface IpxeWorld {
  /** `netX/mac`, `buildarch`, … */
  readonly settings?: Readonly<Record<string, string>>
  /** Commands that this build lacks. */
  readonly lacks?: readonly string[]
  /** `false`: the fetch failed. Text: what came, for `chain`. */
  readonly fetch?: (url: string, count: number) => boolean | string
  readonly dhcp?: (interfaceName: string | undefined, count: number) => boolean
  readonly cpuid?: (words: readonly string[]) => boolean
  readonly sanboot?: boolean
  readonly boot?: (count: number) => boolean
  /** The run is broken off after so many sleeps. */
  readonly sleepsAtMost?: number
}

export interface IpxeRun {
  readonly end:
    | { readonly kind: 'booted' }
    | { readonly kind: 'sanbooted' }
    | { readonly kind: 'left'; readonly status: number }
    | { readonly kind: 'stopped'; readonly line: string }
    | { readonly kind: 'still-running' }
  readonly console: readonly string[]
  readonly sleeps: readonly number[]
  readonly urls: readonly string[]
  readonly commands: ReadonlySet<string>
  readonly kernel?: { readonly url: string; readonly words: readonly string[] }
  readonly initrds: readonly { readonly name: string; readonly url: string }[]
  readonly settings: ReadonlyMap<string, string>
}

/** Words of each command line of a script, before anything is expanded; for checks that need no run. */
export function ipxeLines(script: string): readonly (readonly string[])[] {
  return splitLines(script)
    .filter((line) => line.label === undefined)
    .map(({ words }) => words)
    .filter((words) => words.length > 0)
}

class Left extends Error {
  readonly end: IpxeRun['end']
  constructor(end: IpxeRun['end']) {
    super('left')
    this.end = end
  }
}

interface Line {
  readonly label?: string
  readonly words: readonly string[]
  readonly text: string
}

function splitLines(script: string): readonly Line[] {
  const lines: Line[] = []
  let text = ''
  for (const fragment of script.split('\n')) {
    text += fragment
    if (text.endsWith('\\')) {
      text = text.slice(0, -1)
      continue
    }
    lines.push(splitLine(text))
    text = ''
  }
  return lines
}

function splitLine(text: string): Line {
  const trimmed = text.trimStart()
  if (trimmed.startsWith(':'))
    return { label: trimmed.slice(1).split(/[ \t\f\v\r]/)[0] ?? '', words: [], text }
  const all = trimmed.split(/[ \t\f\v\r]+/).filter((word) => word !== '')
  const comment = all.findIndex((word) => word.startsWith('#'))
  return { words: comment < 0 ? all : all.slice(0, comment), text }
}

export function runIpxe(script: string, world: IpxeWorld = {}): IpxeRun {
  const settings = new Map(Object.entries(world.settings ?? {}))
  const console: string[] = []
  const sleeps: number[] = []
  const urls: string[] = []
  const commands = new Set<string>()
  const counts = new Map<string, number>()
  let kernel: IpxeRun['kernel']
  let initrds: { name: string; url: string }[] = []
  let lines: readonly Line[] = []
  let next = 0

  function count(what: string): number {
    const value = (counts.get(what) ?? 0) + 1
    counts.set(what, value)
    return value
  }

  function load(text: string): boolean {
    if (!/^#!ipxe\s/.test(text)) return false
    lines = splitLines(text)
    next = 0
    return true
  }

  function expand(word: string): string {
    let text = word
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const head = text.lastIndexOf('${')
      const tail = head < 0 ? -1 : text.indexOf('}', head)
      if (tail < 0) return text
      const [name = '', format] = text.slice(head + 2, tail).split(':')
      text = text.slice(0, head) + formatted(settings.get(name) ?? '', format) + text.slice(tail + 1)
    }
    return text
  }

  function fetch(url: string): boolean | string {
    if (!/^https?:\/\//.test(url)) return false
    urls.push(url)
    return world.fetch?.(url, count(url)) ?? true
  }

  function sleep(seconds: number): void {
    sleeps.push(seconds)
    if (sleeps.length >= (world.sleepsAtMost ?? 1000)) throw new Left({ kind: 'still-running' })
  }

  /** Whether the command succeeded; `Goto` and `Left` leave by throwing. */
  function run(words: readonly string[]): boolean {
    const [command, ...rest] = words
    if (command === undefined || command === '') return true
    commands.add(command)
    if (world.lacks?.includes(command)) {
      console.push(`${command}: command not found`)
      return false
    }
    switch (command) {
      case 'imgfree':
        kernel = undefined
        initrds = []
        return true
      case 'echo':
        if (rest[0]?.startsWith('-')) return false
        console.push(rest.join(' '))
        return true
      case 'set':
        if (rest[0] === undefined) return false
        settings.set(rest[0], rest.slice(1).join(' '))
        return true
      case 'clear':
        return rest.length === 1 && (settings.delete(rest[0] ?? '') || true)
      case 'inc': {
        const [name = '', step = '1'] = rest
        settings.set(name, String(Number(settings.get(name) ?? 0) + Number(step)))
        return rest.length >= 1 && rest.length <= 2
      }
      case 'isset':
        return rest.length === 1 && rest[0] !== ''
      case 'iseq':
        return rest.length === 2 && rest[0] === rest[1]
      case 'sleep':
        if (rest.length !== 1 || !/^\d+$/.test(rest[0] ?? '')) return false
        sleep(Number(rest[0]))
        return true
      case 'goto': {
        const target = lines.findIndex(({ label }) => label === rest[0])
        if (target < 0 || rest.length !== 1) return false
        throw new Goto(target)
      }
      case 'dhcp':
        if (rest.length > 1 || (rest.length === 1 && rest[0] !== 'netX')) return false
        if (world.dhcp?.(rest[0], count('dhcp')) === false) return false
        settings.set('netX/ip', '192.0.2.55')
        return true
      case 'cpuid':
        return world.cpuid?.(rest) ?? true
      case 'kernel': {
        const [url, ...rest2] = rest
        if (url === undefined || url.startsWith('-') || fetch(url) === false) return false
        kernel = { url, words: rest2 }
        return true
      }
      case 'initrd': {
        const [option, name, url, ...others] = rest
        if (option !== '--name' || name === undefined || url === undefined || others.length > 0) return false
        if (fetch(url) === false) return false
        initrds.push({ name, url })
        return true
      }
      case 'chain': {
        const replaces = rest[0] === '--replace'
        const url = rest[replaces ? 1 : 0]
        if (url === undefined || rest.length !== (replaces ? 2 : 1)) return false
        const came = fetch(url)
        if (came === true) throw new Left({ kind: 'booted' })
        if (came === false || !load(came)) return false
        throw new Goto(0)
      }
      case 'boot':
        if (kernel === undefined || world.boot?.(count('boot')) === false) return false
        throw new Left({ kind: 'booted' })
      case 'sanboot':
        if (rest.join(' ') !== '--no-describe --drive 0x80' || world.sanboot === false) return false
        throw new Left({ kind: 'sanbooted' })
      case 'exit':
        throw new Left({ kind: 'left', status: Number(rest[0] ?? 0) })
      default:
        console.push(`${command}: command not found`)
        return false
    }
  }

  /** Whether the line succeeded. Words are split first and expanded after, so a value never becomes two words. */
  function runLine({ words }: Line): boolean {
    let succeeded = true
    let isRun = true
    let from = 0
    for (let at = 0; at <= words.length; at += 1) {
      const word = words[at]
      if (word !== undefined && word !== '||' && word !== '&&' && word !== ';') continue
      if (isRun) succeeded = run(words.slice(from, at).map(expand))
      isRun = word === ';' || (word === '&&') === succeeded
      from = at + 1
    }
    return succeeded
  }

  function runAll(): IpxeRun['end'] {
    if (!load(script)) return { kind: 'stopped', line: script.slice(0, 20) }
    for (let steps = 0; steps < 100_000; steps += 1) {
      const line = lines[next]
      if (line === undefined) return { kind: 'left', status: 0 }
      next += 1
      try {
        if (!runLine(line)) return { kind: 'stopped', line: line.text }
      } catch (jump) {
        if (jump instanceof Left) return jump.end
        if (!(jump instanceof Goto)) throw jump
        next = jump.target
      }
    }
    return { kind: 'still-running' }
  }

  const end = runAll()
  return { end, console, sleeps, urls, commands, kernel, initrds, settings }
}

class Goto extends Error {
  readonly target: number
  constructor(target: number) {
    super('goto')
    this.target = target
  }
}

function formatted(value: string, format: string | undefined): string {
  if (format === 'hexhyp') return value.replaceAll(':', '-')
  if (format === 'uristring') return value.replace(/[^!-~]|[%/#:@?]/g, encodeURIComponent)
  return value
}
