import { allowedText } from './allowed-text.ts'
import { type ConfigPath, pathText } from './config-path.ts'
import type { LoadedConfig } from './load-config.ts'
import { hostsFileSchema } from './machine-schema.ts'
import { type ConfigOrigin, configOriginText } from './origin.ts'
import { configSchema } from './schema.ts'
import { type SchemaNode, valuesOf } from './schema-parts.ts'
import { settables } from './settable.ts'

/** One line of `config show`. */
export interface ShownValue {
  /** `streams.fcos-stable.refresh` */
  readonly path: string
  /** As the file would say it: text, number, truth value or an empty list; `(hidden)` for secrets. */
  readonly value: unknown
  /** `pilotlight.yaml:14`, `environment PILOTLIGHT_…`, `--log-level` or `default`. */
  readonly origin: string
}

const hidden = '(hidden)'

/** Every value that counts, with its origin and without secrets, in the order of the schema. */
export function describeConfig({
  raw,
  origins,
}: Pick<LoadedConfig, 'raw' | 'origins'>): readonly ShownValue[] {
  const shown: ShownValue[] = []
  const byDefault: ConfigOrigin = { kind: 'default' }
  const visit = (value: unknown, schema: SchemaNode, path: ConfigPath): void => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      for (const [key, inner] of inSchemaOrder(value, schema)) {
        const step = Array.isArray(value) ? Number(key) : key
        visit(inner, innerSchema(schema, inner, key), [...path, step])
      }
      return
    }
    const text = pathText(path)
    shown.push({
      path: text,
      value: shownValue(value, schema),
      origin: configOriginText(origins.get(text) ?? byDefault),
    })
  }
  visit(raw, configSchema as SchemaNode, [])
  return shown
}

function inSchemaOrder(value: object, schema: SchemaNode): readonly [string, unknown][] {
  const order = Object.keys(objectForm(schema).properties ?? {})
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length)
  const entries = Object.entries(value)
  return Array.isArray(value) ? entries : entries.sort(([a], [b]) => rank(a) - rank(b))
}

function innerSchema(schema: SchemaNode, value: unknown, key: string): SchemaNode {
  const form = objectForm(schema)
  const inner = form.items ?? form.properties?.[key] ?? valuesOf(form) ?? {}
  // Of a value in several forms the one that was written; a secret in any form is a secret.
  const single = typeof value === 'object' ? undefined : inner.anyOf?.find(({ type }) => type !== 'object')
  return single === undefined ? inner : { ...single }
}

function objectForm(schema: SchemaNode): SchemaNode {
  return schema.anyOf?.find(({ type }) => type === 'object') ?? schema
}

function shownValue(value: unknown, schema: SchemaNode): unknown {
  // Which proxy is no secret; its password is.
  if (schema.format === 'proxy-url') return withoutPassword(String(value))
  return schema.secret === true ? hidden : value
}

function withoutPassword(text: string): string {
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  return `${url.protocol}//${hidden}@${url.host}`
}

/** A value in one line. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `config reference`: every key of both file formats as Markdown, made from the schema. */
export function configReference(): string {
  const variables = new Map(
    settables().map(({ key, flag, variable }) => [key, `\`${flag}\`, \`${variable}\``]),
  )
  return [
    '# Configuration',
    '',
    'A value is taken from a flag, else from the environment, else from the file, else it is the default.',
    'Relative paths in a file begin at the folder of that file.',
    'Unknown keys are refused.',
    '',
    '## pilotlight.yaml',
    '',
    ...referenceTable(configSchema as SchemaNode, variables),
    '',
    '## Files of the hosts directory',
    '',
    ...referenceTable(hostsFileSchema as SchemaNode, new Map()),
    '',
  ].join('\n')
}

function referenceTable(schema: SchemaNode, variables: ReadonlyMap<string, string>): readonly string[] {
  const rows: string[] = ['| key | allowed | default | meaning |', '| --- | --- | --- | --- |']
  const visit = (node: SchemaNode, path: string, isRequired: boolean): void => {
    if (path !== '') {
      const names = variables.get(path)
      const meaning = [node.description ?? '', names === undefined ? '' : `Also ${names}.`].join(' ').trim()
      rows.push(
        `| \`${path}\` | ${cell(allowedText(node))} | ${defaultCell(node, isRequired)} | ${cell(meaning)} |`,
      )
    }
    const form = objectForm(node)
    for (const [key, inner] of Object.entries(form.properties ?? {})) {
      visit(inner, path === '' ? key : `${path}.${key}`, form.required?.includes(key) === true)
    }
    const values = valuesOf(form)
    if (values !== undefined) visit(values, `${path}.<name>`, false)
    if (node.items !== undefined && node.items.properties !== undefined) visit(node.items, `${path}[]`, false)
  }
  visit(schema, '', true)
  return rows
}

function defaultCell(node: SchemaNode, isRequired: boolean): string {
  if (node.default !== undefined) return `\`${valueText(node.default)}\``
  return isRequired && node.section !== true ? 'required' : ''
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
