import { Context, type Emitter, Liquid, type Template } from 'liquidjs'
import { nearestWord } from '../core/nearest-word.ts'
import { type IgnitionVariables, ignitionVariableNames, ignitionVariables } from './ignition-variables.ts'

/** Something wrong with a text, at one of its characters. */
export interface TextFault {
  readonly message: string
  readonly offset: number
  readonly hint?: string
}

/** A text that is made for each boot. */
export interface IgnitionTemplate {
  /** @throws Error saying what is missing */
  render(variables: IgnitionVariables): string
  /** As it reads with sample values, and where each of its characters comes from. */
  readonly sample: { readonly text: string; sourceOf(offset: number): number }
}

const notMeant =
  'text that only looks like a template stands between {% raw %} and {% endraw %}, or the config says template: false'

/** Each text, value and tag is one or two, in a loop each time. */
const mostSteps = 10_000
/** Characters and list entries that filters and ranges may go through in all. */
const mostFilterWork = 1_000_000
const mostCharacters = 2_000_000

/** Values as they may stand between two quotes of a JSON string; a list or a map is JSON by itself. */
function escaped(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value)
}

function createEngine(): Liquid {
  const engine = new Liquid({
    // No file can be included.
    templates: {},
    strictVariables: true,
    // `{% if labels.rack %}` and `| default:` may ask for what is not there.
    lenientIf: true,
    strictFilters: true,
    ownPropertyOnly: true,
    outputEscape: escaped,
    parseLimit: 4_000_000,
    memoryLimit: mostFilterWork,
  })
  // They would let a value leave its string.
  engine.unregisterFilter('raw')
  delete engine.tags.cycle
  const { renderer } = engine
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (templates, context, emitter = boundedEmitter()) =>
    renderTemplates(templates, context, emitter)
  return engine
}

/** What goes into the text, or into a variable, beyond which nobody wants it. */
function boundedEmitter(): Emitter {
  return {
    buffer: '',
    write(piece: unknown) {
      if (piece === undefined || piece === null) return
      this.buffer += String(piece)
      if (this.buffer.length > mostCharacters) throw new Error(`it grows beyond ${mostCharacters} characters`)
    },
  }
}

/**
 * Counted in steps and not in time, so that a config that was taken is served however busy the machine is. Everybody
 * waits meanwhile: this many take some ms.
 */
function boundedContext(variables: IgnitionVariables): Context {
  const context = new Context(variables, engine.options, {
    sync: true,
    strictVariables: true,
    ownPropertyOnly: true,
  })
  let steps = 0
  context.renderLimit.check = () => {
    steps += 1
    if (steps > mostSteps) throw new Error(`it takes more than ${mostSteps} steps: its loops are too long`)
  }
  return context
}

const engine = createEngine()

/** Reads a template and tries it out with sample values. */
export function compileIgnitionTemplate(
  source: string,
): { readonly template: IgnitionTemplate } | { readonly fault: TextFault } {
  try {
    const parsed = engine.parse(source)
    const unknown = unknownVariable(parsed, source)
    if (unknown !== undefined) return { fault: unknown }
    const sample = renderInPieces(parsed, sampleFor(parsed))
    const render = (variables: IgnitionVariables) =>
      engine.renderSync(parsed, boundedContext(variables)) as string
    return { template: { render, sample } }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

function unknownVariable(parsed: Template[], source: string): TextFault | undefined {
  const { globals } = engine.analyzeSync(parsed)
  for (const [name, [first]] of Object.entries(globals)) {
    if ((ignitionVariableNames as readonly string[]).includes(name)) continue
    const { row = 1, col = 1 } = first?.location ?? {}
    const meant = nearestWord(name, ignitionVariableNames)
    const known = ignitionVariableNames.join(', ')
    return {
      message: `there is no variable ${name} here, allowed: ${known}`,
      offset: offsetAt(source, row, col),
      hint: meant === undefined ? notMeant : `did you mean ${meant}?`,
    }
  }
  return undefined
}

/** The documented examples, with every label that the template asks for. */
function sampleFor(parsed: Template[]): IgnitionVariables {
  const examples = Object.fromEntries(
    ignitionVariableNames.map((name) => [name, ignitionVariables[name].example]),
  ) as unknown as IgnitionVariables
  const asked = engine
    .globalVariableSegmentsSync(parsed)
    .filter(([name, label]) => name === 'labels' && typeof label === 'string')
    .map(([, label]) => [String(label), 'sample'] as const)
  return { ...examples, labels: { ...examples.labels, ...Object.fromEntries(asked) } }
}

/** Renders one top-level part after the other, to know which part of the source a character comes from. */
function renderInPieces(parsed: Template[], variables: IgnitionVariables): IgnitionTemplate['sample'] {
  const context = boundedContext(variables)
  const pieces: { readonly start: number; readonly source: number; readonly isLiteral: boolean }[] = []
  let text = ''
  for (const template of parsed) {
    const { token } = template
    const trimmed = 'trimLeft' in token ? Number(token.trimLeft) : 0
    const isLiteral = 'getContent' in token && !('tokenizer' in token)
    pieces.push({ start: text.length, source: token.begin + trimmed, isLiteral })
    text += engine.renderSync([template], context) as string
  }
  return {
    text,
    sourceOf(offset) {
      const piece = pieces.findLast(({ start }) => start <= offset)
      if (piece === undefined) return 0
      return piece.source + (piece.isLiteral ? offset - piece.start : 0)
    },
  }
}

interface LiquidFault extends Error {
  readonly token?: { readonly begin?: number }
}

function faultOf(error: unknown): TextFault {
  const { token, message } = error as LiquidFault
  const what = message.replace(/, (?:file|line):.*$/s, '').split('\n', 1)[0] ?? ''
  return { message: `the template cannot be used: ${what}`, offset: token?.begin ?? 0, hint: notMeant }
}

function offsetAt(source: string, row: number, column: number): number {
  const before = source.split('\n').slice(0, row - 1)
  return before.reduce((sum, line) => sum + line.length + 1, 0) + column - 1
}
