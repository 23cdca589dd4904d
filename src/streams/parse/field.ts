import { ServiceError } from '../../core/errors.ts'
import { visibleText } from '../../core/visible-text.ts'

/** A place in a document: what is there and how to say where. An absent member has the value `undefined`. */
export interface Field {
  /** `architectures.x86_64.artifacts.metal.formats["raw.xz"].disk`; empty for the document itself. */
  readonly path: string
  readonly value: unknown
}

const maxTextLength = 2048

export function documentField(value: unknown): Field {
  return { path: '', value }
}

/** A METADATA_INVALID that names the field, what was found there and what was expected. */
export function invalidField(
  field: Field,
  expected: string,
  found = describeValue(field.value),
): ServiceError {
  const place = field.path === '' ? 'the document' : field.path
  return new ServiceError('METADATA_INVALID', `${place}: found ${found}, expected ${expected}`, {
    field: field.path,
    found,
    expected,
  })
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return `"${visibleText(value, 80)}"`
  return `the ${typeof value} ${visibleText(String(value), 40)}`
}

export function isAbsent({ value }: Field): boolean {
  return value === undefined
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @throws ServiceError METADATA_INVALID when the parent is not an object */
export function member(parent: Field, name: string): Field {
  return { path: joinPath(parent.path, name), value: ownValue(object(parent), name) }
}

/** The names of an object's members, in the document's order. */
export function memberNames(parent: Field): readonly string[] {
  return Object.keys(object(parent))
}

/** The elements of an array of bounded length. */
export function elements(field: Field, max: number): readonly Field[] {
  if (!Array.isArray(field.value)) throw invalidField(field, 'an array')
  if (field.value.length > max) throw invalidField(field, `at most ${max}`, `${field.value.length} entries`)
  return field.value.map((value: unknown, index) => ({ path: `${field.path}[${index}]`, value }))
}

/** The first few of many names, for a message. */
export function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'nothing'
  const shown = names.slice(0, 8).map((name) => visibleText(name, 40) || '""')
  return names.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ')
}

export function object(field: Field): Readonly<Record<string, unknown>> {
  if (!isObject(field.value)) throw invalidField(field, 'an object')
  return field.value
}

/** Non-empty text without invisible characters, at most 2,048 long. */
export function text(field: Field, expected = 'text'): string {
  const { value } = field
  if (typeof value !== 'string' || value === '') throw invalidField(field, expected)
  if (value.length > maxTextLength)
    throw invalidField(field, `${expected} of at most ${maxTextLength} characters`)
  if (visibleText(value) !== value) throw invalidField(field, `${expected} without control characters`)
  return value
}

/** Absent is fine, anything else but text is not. */
export function optionalText(field: Field, expected?: string): string | undefined {
  return isAbsent(field) ? undefined : text(field, expected)
}

/** A time for display, in ms since the epoch; text that is no date is as good as none. */
export function optionalTime(field: Field): number | undefined {
  const written = optionalText(field, 'an RFC 3339 time')
  const time = written === undefined ? Number.NaN : Date.parse(written)
  return Number.isNaN(time) ? undefined : time
}

/** Only own members count: a document must not reach `constructor` and its kin by naming them. */
function ownValue(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

function joinPath(parent: string, name: string): string {
  const shown = visibleText(name, 80)
  if (!/^[A-Za-z0-9_-]+$/.test(shown)) return `${parent}[${JSON.stringify(shown)}]`
  return parent === '' ? shown : `${parent}.${shown}`
}
