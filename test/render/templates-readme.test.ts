import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Dialect, dialects } from '../../src/render/dialect.ts'
import { templatesOf, type VariableName, variableNames } from '../../src/render/template-variables.ts'
import { variableDescriptions } from '../../src/render/variable-descriptions.ts'
import { templatesDirectory } from '../fakes/scripts.ts'

const path = join(templatesDirectory, 'README.md')
const begin = '<!-- variables -->\n'
const end = '<!-- /variables -->'

function variablesTable(): string {
  const rows = Object.entries(variableDescriptions).map(
    ([name, { text, example }]) =>
      `| \`${name}\` | ${placesOf(name as VariableName)} | ${text} | \`${exampleText(example)}\` |\n`,
  )
  return `| variable | templates | what | example |\n| --- | --- | --- | --- |\n${rows.join('')}`
}

/** `all but entry`, where it is the same in every folder; else folder by folder. */
function placesOf(name: VariableName): string {
  const places = dialects
    .map((dialect) => [dialect, usersOf(name, dialect)] as const)
    .filter(([, users]) => users !== '')
  const isEverywhere =
    places.length === dialects.length && new Set(places.map(([, users]) => users)).size === 1
  return isEverywhere
    ? (places[0]?.[1] ?? '')
    : places.map(([dialect, users]) => `${dialect}: ${users}`).join('; ')
}

function usersOf(name: VariableName, dialect: Dialect): string {
  const templates = templatesOf(dialect)
  const users = Object.keys(templates).filter((template) => templates[template]?.includes(name))
  const others = Object.keys(templates).filter((template) => template !== 'entry')
  if (!others.every((template) => users.includes(template))) return users.join(', ')
  return users.includes('entry') || !('entry' in templates) ? 'all' : 'all but `entry`'
}

function exampleText(example: unknown): string {
  const text = typeof example === 'string' ? example : JSON.stringify(example)
  // Sixty-four digits of a digest tell a reader nothing.
  return text.replace(/\/(\d)\1{63}\//g, '/$1$1$1$1…/')
}

describe('templates/README.md', () => {
  it('lists every variable with an example, as the code describes it (UPDATE_GOLDEN=1 rewrites it)', () => {
    const readme = readFileSync(path, 'utf8')
    const [before = '', rest = ''] = readme.split(begin)
    const after = rest.slice(rest.indexOf(end))
    const wanted = `${before}${begin}${variablesTable()}${after}`
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, wanted)
    expect(readFileSync(path, 'utf8')).toBe(wanted)
  })

  it.each([...dialects])('names every shipped template of %s', (dialect) => {
    const readme = readFileSync(path, 'utf8')
    const files = readdirSync(join(templatesDirectory, dialect))
    expect(files.length).toBeGreaterThan(8)
    for (const file of files) expect(readme).toContain(`\`${dialect}/${file}\``)
  })

  it('describes exactly the variables that templates are given', () => {
    expect(Object.keys(variableDescriptions).sort()).toEqual([...variableNames].sort())
  })
})
