import { Liquid, type Template } from 'liquidjs'
import { ServiceError } from '../core/errors.ts'
import { type Dialect, magicLine } from './dialect.ts'
import type { TemplateSource } from './read-templates.ts'
import {
  type TemplateName,
  templateNamesOf,
  templatesOf,
  type VariableName,
  type VariableValue,
} from './template-variables.ts'
import { variableDescriptions } from './variable-descriptions.ts'

export interface CompiledTemplate {
  /** The variables that this template or a part of it names; nothing else changes what it renders. */
  readonly variables: readonly VariableName[]
  /**
   * The script, after its first line where its dialect wants a certain one.
   * @throws ServiceError TEMPLATE_RENDER_FAILED
   */
  render(values: object): string
}

/** By name; each dialect has those that `template-variables.ts` lists. */
export type CompiledTemplates = ReadonlyMap<TemplateName, CompiledTemplate>

/**
 * Parses every template and runs it once, so that a bad one is known before a machine asks for it. Templates see their
 * variables and each other, never the file system.
 * @throws ServiceError TEMPLATE_INVALID with file:line
 */
export function compileTemplates(
  dialect: Dialect,
  sources: ReadonlyMap<string, TemplateSource>,
): CompiledTemplates {
  const texts = Object.fromEntries([...sources].map(([name, { text }]) => [name, text]))
  const engine = new Liquid({
    templates: texts,
    cache: true,
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: 1_000_000,
    memoryLimit: 1_000_000,
  })
  const parsed = new Map([...sources].map(([name, source]) => [name, parse(engine, name, source)]))
  const compile = (name: TemplateName) =>
    compileOne({ engine, dialect, name, template: parsed.get(name) ?? [], sources })
  return new Map(templateNamesOf(dialect).map((name) => [name, compile(name)]))
}

function parse(engine: Liquid, name: string, source: TemplateSource): Template[] {
  try {
    return engine.parse(source.text, name)
  } catch (cause) {
    throw invalid(cause, name, new Map([[name, source]]))
  }
}

/** One template while it is made ready. */
interface Compiling {
  readonly engine: Liquid
  readonly dialect: Dialect
  readonly name: TemplateName
  readonly template: Template[]
  readonly sources: ReadonlyMap<string, TemplateSource>
}

function compileOne(compiling: Compiling): CompiledTemplate {
  const { engine, dialect, name, template } = compiling
  const variables = usedVariables(compiling)
  tryOut(compiling)
  return {
    variables,
    render(values) {
      try {
        return scriptBody(engine.renderSync(template, values), dialect)
      } catch (cause) {
        const message = `template ${dialect}/${name} could not be rendered: ${(cause as Error).message}`
        throw new ServiceError('TEMPLATE_RENDER_FAILED', message, { template: name, dialect }, cause)
      }
    },
  }
}

function knownVariables({ dialect, name }: Pick<Compiling, 'dialect' | 'name'>): readonly VariableName[] {
  return templatesOf(dialect)[name] ?? []
}

function usedVariables(compiling: Compiling): readonly VariableName[] {
  const { name, sources } = compiling
  const known = knownVariables(compiling)
  const { globals } = analyze(compiling)
  for (const [variable, [first]] of Object.entries(globals)) {
    if (known.includes(variable as VariableName)) continue
    const { row = 1, col = 1, file = name } = first?.location ?? {}
    const path = sources.get(file)?.path ?? file
    const message = `${path}:${row}:${col}: template ${name} is given no variable ${variable}; it is given ${known.join(', ')}`
    throw new ServiceError('TEMPLATE_INVALID', message, { path, line: row, column: col, variable })
  }
  return known.filter((variable) => Object.hasOwn(globals, variable))
}

function analyze(compiling: Compiling) {
  const { engine, name, template, sources } = compiling
  try {
    return engine.analyzeSync(template)
  } catch (cause) {
    // A part that is not there: running the template tells the line, unless that line is not reached.
    tryOut(compiling)
    throw invalid(cause, name, sources)
  }
}

function tryOut(compiling: Compiling): void {
  const { engine, dialect, name, template, sources } = compiling
  for (const variant of ['full', 'empty'] as const) {
    try {
      scriptBody(engine.renderSync(template, trialValues(compiling, variant)), dialect)
    } catch (cause) {
      throw invalid(cause, name, sources)
    }
  }
}

/** The documented examples, or the least there can be: every branch of a template that asks "is there any" is run. */
function trialValues(compiling: Pick<Compiling, 'dialect' | 'name'>, variant: 'full' | 'empty'): object {
  const value = (variable: VariableName): VariableValue => {
    const { example } = variableDescriptions[variable]
    if (variant === 'full') return example
    if (Array.isArray(example)) return []
    if (typeof example === 'boolean') return false
    return typeof example === 'number' ? 0 : ''
  }
  return Object.fromEntries(knownVariables(compiling).map((variable) => [variable, value(variable)]))
}

/**
 * What follows the first line that the dialect wants. Lines that tags left empty are dropped here rather than by
 * white-space control in the templates: one dash too many there joins the first two lines, and iPXE sees no script
 * (field case 115).
 */
function scriptBody(rendered: string, dialect: Dialect): string {
  const magic = magicLine[dialect]
  if (!rendered.startsWith(magic)) throw new Error(`a script begins with the line ${magic.trimEnd()}`)
  if (/[\r\0]/.test(rendered)) throw new Error('a script has no CR and no NUL')
  const lines = rendered.slice(magic.length).split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

interface LiquidFault extends Error {
  readonly token?: { readonly file?: string; getPosition?(): readonly [number, number] }
}

/** A fault of the engine or of our checks, said as `file:line:column: what`. */
function invalid(cause: unknown, name: string, sources: ReadonlyMap<string, TemplateSource>): ServiceError {
  const { token, message } = cause as LiquidFault
  const path = sources.get(token?.file ?? name)?.path ?? token?.file ?? name
  const [line, column] = token?.getPosition?.() ?? [1, 1]
  const what = message
    .replace(/, (?:file|line):.*$/s, '')
    .replace(/^ENOENT: Failed to lookup ("[^"]*").*$/s, 'there is no part $1')
  return new ServiceError(
    'TEMPLATE_INVALID',
    `${path}:${line}:${column}: ${what}`,
    { path, line, column },
    cause,
  )
}
