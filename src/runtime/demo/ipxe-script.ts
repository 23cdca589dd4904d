/**
 * Enough of iPXE's script language for a simulated node. After iPXE's own rules: a line is split on white space,
 * `||`, `&&` and `;` end a command, `${name:format}` expands, a failing line ends the script, an unknown command fails.
 */

export interface IpxeMachine {
  /** Values of `${…}`; `set` writes into it. */
  readonly settings: Map<string, string>
  /** One command with its words; resolves with whether it succeeded. `chain` replaces the script by returning it. */
  run(command: string, words: readonly string[]): Promise<IpxeOutcome>
}

export type IpxeOutcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'failed' }
  /** Go on with this script. */
  | { readonly kind: 'script'; readonly text: string }
  /** The script is left: booted or exited. */
  | { readonly kind: 'left' }

export const ok: IpxeOutcome = { kind: 'ok' }
export const failed: IpxeOutcome = { kind: 'failed' }

/** A bound for scripts that loop without end: no real script of ours comes near it before it boots. */
const mostLines = 10_000

/**
 * Runs a script until it is left.
 * @throws Error when the text is no iPXE script, a line fails, or the script never ends
 */
export async function runIpxeScript(text: string, machine: IpxeMachine): Promise<void> {
  let lines = parseLines(text)
  let next = 0
  for (let count = 0; count < mostLines; count += 1) {
    const line = lines[next]
    if (line === undefined) return
    next += 1
    if (line.startsWith(':')) continue
    const outcome = await runLine(line, machine)
    if (outcome.kind === 'failed') throw new Error(`iPXE script stopped at: ${line}`)
    if (outcome.kind === 'left') return
    if (outcome.kind === 'goto') {
      next = lines.indexOf(`:${outcome.label}`)
      if (next < 0) throw new Error(`iPXE script has no label ${outcome.label}`)
    }
    if (outcome.kind === 'script') {
      lines = parseLines(outcome.text)
      next = 0
    }
  }
  throw new Error('iPXE script did not end')
}

function parseLines(text: string): readonly string[] {
  if (!text.startsWith('#!ipxe\n')) throw new Error('not an iPXE script: it does not start with #!ipxe')
  return text
    .replaceAll('\\\n', '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

type LineOutcome = IpxeOutcome | { readonly kind: 'goto'; readonly label: string }

async function runLine(line: string, machine: IpxeMachine): Promise<LineOutcome> {
  let outcome: LineOutcome = ok
  for (const { operator, words } of splitCommands(line)) {
    // A command that is skipped leaves the outcome as it was, for the operator after it.
    if (operator === '||' && outcome.kind !== 'failed') continue
    if (operator === '&&' && outcome.kind === 'failed') continue
    outcome = await runCommand(
      words.map((word) => expand(word, machine.settings)),
      machine,
    )
    if (outcome.kind !== 'ok' && outcome.kind !== 'failed') return outcome
  }
  return outcome
}

interface Command {
  readonly operator: string | undefined
  readonly words: readonly string[]
}

function splitCommands(line: string): readonly Command[] {
  const commands: { operator: string | undefined; words: string[] }[] = [{ operator: undefined, words: [] }]
  for (const token of line.split(/\s+/)) {
    if (token.startsWith('#')) break
    if (token === '||' || token === '&&' || token === ';') commands.push({ operator: token, words: [] })
    else commands.at(-1)?.words.push(token)
  }
  return commands
}

async function runCommand(words: readonly string[], machine: IpxeMachine): Promise<LineOutcome> {
  const [command = '', ...rest] = words
  const { settings } = machine
  switch (command) {
    case '':
      return ok
    case 'goto':
      return { kind: 'goto', label: rest[0] ?? '' }
    case 'set':
      settings.set(rest[0] ?? '', rest.slice(1).join(' '))
      return ok
    case 'clear':
      settings.delete(rest[0] ?? '')
      return ok
    case 'inc':
      settings.set(rest[0] ?? '', String(Number(settings.get(rest[0] ?? '') ?? 0) + Number(rest[1] ?? 1)))
      return ok
    // An unset variable expands to nothing, which leaves no word behind.
    case 'isset':
      return rest[0] === undefined || rest[0] === '' ? failed : ok
    case 'iseq':
      return (rest[0] ?? '') === (rest[1] ?? '') ? ok : failed
    default:
      return machine.run(command, rest)
  }
}

function expand(word: string, settings: ReadonlyMap<string, string>): string {
  return word.replace(/\$\{([^}:]+)(?::([^}]+))?\}/g, (_, name: string, format: string | undefined) => {
    const value = settings.get(name) ?? ''
    if (format === 'hexhyp') return value.replaceAll(':', '-')
    if (format === 'uristring') return encodeURIComponent(value)
    return value
  })
}
