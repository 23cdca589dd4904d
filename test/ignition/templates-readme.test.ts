import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ignitionVariables } from '../../src/ignition/ignition-variables.ts'
import { templatesDirectory } from '../fakes/scripts.ts'

const folder = join(templatesDirectory, 'ignition')
const path = join(folder, 'README.md')
const [begin, end] = ['<!-- variables -->\n', '<!-- /variables -->']

function variablesTable(): string {
  const rows = Object.entries(ignitionVariables).map(([name, { text, example }]) => {
    const shown = typeof example === 'string' ? example.replace(/A{64}/, 'AAAA…') : JSON.stringify(example)
    return `| \`${name}\` | ${text} | \`${shown}\` |\n`
  })
  return `| variable | what | example |\n| --- | --- | --- |\n${rows.join('')}`
}

describe('templates/ignition/README.md', () => {
  it('lists every variable with an example, as the code describes it (UPDATE_GOLDEN=1 rewrites it)', () => {
    const [before = '', rest = ''] = readFileSync(path, 'utf8').split(begin)
    const wanted = `${before}${begin}${variablesTable()}${rest.slice(rest.indexOf(end))}`
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, wanted)
    expect(readFileSync(path, 'utf8')).toBe(wanted)
  })

  it('names every file of the snippet', () => {
    const readme = readFileSync(path, 'utf8')
    for (const file of readdirSync(folder).filter((name) => name !== 'README.md')) {
      expect(readme).toContain(`\`ignition/${file}\``)
    }
  })
})
