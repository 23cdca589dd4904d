import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Liquid, type Template } from 'liquidjs'
import { ServiceError } from '../../../core/errors.ts'
import { visibleText } from '../../../core/visible-text.ts'

/** Views of the page, each a template of its own. */
export const pageViews = [
  'fleet',
  'rows',
  'row',
  'machine',
  'boot',
  'boots',
  'streams',
  'events',
  'doctor',
  'action',
  'login',
  'error',
] as const
export type PageView = (typeof pageViews)[number]

export interface PageTemplates {
  /** Every value is text in it, whatever is in the value. */
  render(view: PageView, values: object): string
}

/**
 * The templates of the page, parsed once and now; they see their values and each other, never the file system.
 * @param directory has `*.liquid`
 * @throws ServiceError TEMPLATE_INVALID naming the file
 */
export function createPageTemplates(directory: string): PageTemplates {
  const files = readdirSync(directory).filter((name) => name.endsWith('.liquid'))
  const texts = Object.fromEntries(
    files.map((name) => [basename(name, '.liquid'), readFileSync(join(directory, name), 'utf8')]),
  )
  const engine = new Liquid({
    templates: texts,
    cache: true,
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    jsTruthy: true,
    outputEscape: shownText,
  })
  const parsed = new Map(pageViews.map((view) => [view, parse(engine, view, texts[view])]))
  return {
    render(view, values) {
      return engine.renderSync(parsed.get(view) ?? [], told(values) as object)
    },
  }
}

function parse(engine: Liquid, view: PageView, text: string | undefined): Template[] {
  try {
    if (text === undefined) throw new Error('there is no such file')
    return engine.parse(text, view)
  } catch (cause) {
    const message = `template dashboard/${view} cannot be used: ${(cause as Error).message}`
    throw new ServiceError('TEMPLATE_INVALID', message, { template: view }, cause)
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** Most values: nothing in them needs a closer look. */
const plain = /^[\w .,:;/()+=-]{0,300}$/
/** Characters of one value at most: whatever a machine says of itself, a row stays a row. */
const mostCharacters = 1024

/** What is not there is told as nothing; what a template names and nobody told is a mistake, and fails. */
function told(value: unknown): unknown {
  if (value === undefined) return null
  if (Array.isArray(value)) return value.map(told)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, told(part)]))
}

/** Any value as text of an element or attribute: bounded, with invisible characters spelt out, and no markup. */
export function shownText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || (typeof value === 'string' && plain.test(value))) return String(value)
  return visibleText(String(value), mostCharacters).replace(
    /[&<>"']/g,
    (character) => entities[character] ?? '',
  )
}
