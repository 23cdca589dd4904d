import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  templateNames,
  templateVariables,
  type VariableName,
  variableDescriptions,
} from '../../src/render/template-variables.ts'
import { templatesDirectory } from '../fakes/scripts.ts'

const path = join(templatesDirectory, 'README.md')
const begin = '<!-- variables -->\n'
const end = '<!-- /variables -->'

function variablesTable(): string {
  const rows = Object.entries(variableDescriptions).map(([name, { text, example }]) => {
    const users = templateNames.filter((template) =>
      (templateVariables[template] as readonly string[]).includes(name),
    )
    const all = templateNames.filter((template) => template !== 'entry')
    const where = all.every((template) => users.includes(template)) ? 'all' : users.join(', ')
    const also =
      where === 'all' && users.includes('entry') ? ' with `entry`' : where === 'all' ? ' but `entry`' : ''
    return `| \`${name}\` | ${where}${also} | ${text} | \`${exampleText(example)}\` |\n`
  })
  return `| variable | templates | what | example |\n| --- | --- | --- | --- |\n${rows.join('')}`
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

  it('names every shipped template', () => {
    const readme = readFileSync(path, 'utf8')
    for (const file of readdirSync(join(templatesDirectory, 'ipxe')))
      expect(readme).toContain(`\`ipxe/${file}\``)
  })

  it('describes no variable that no template is given', () => {
    const given = new Set<VariableName>(templateNames.flatMap((name) => [...templateVariables[name]]))
    expect(Object.keys(variableDescriptions).filter((name) => !given.has(name as VariableName))).toEqual([])
  })
})
