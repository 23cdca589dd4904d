import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/create-program.ts'
import { bootPatternInfos } from '../../src/core/boot-patterns/patterns.ts'
import { expectReadmeTable, markdownTable } from '../fakes/readme-table.ts'
import { metricsText, scrapedMetrics } from '../fakes/scraped-metrics.ts'

const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8')

test('the README has each known way in which boots go wrong, as the service tells it', () => {
  const rows = bootPatternInfos.map(({ code, text, remedy }) => [`\`${code}\``, text, remedy])
  expectReadmeTable(
    'patterns',
    markdownTable(['pattern', 'what it looks like from here', 'what to do'], rows),
  )
})

test('the README has each metric of ours with its labels, as a scrape tells it', async () => {
  const series = await scrapedMetrics()
  const rows = [...(await metricsText()).matchAll(/^# HELP (pilotlight_\w+) (.*)$/gm)]
    .map(([, name = '', help = '']) => {
      const labels = [...(series.get(name) ?? series.get(`${name}_bucket`) ?? new Map()).keys()]
      return [
        `\`${name}\``,
        labels
          .filter((label) => label !== 'le')
          .map((label) => `\`${label}\``)
          .join(', '),
        help,
      ]
    })
    .toSorted(([a = ''], [b = '']) => a.localeCompare(b))
  expect(rows.length).toBeGreaterThan(20)
  expectReadmeTable('metrics', markdownTable(['metric', 'labels', 'what it is'], rows))
})

describe('the table of everyday commands', () => {
  const table = readme.split('## Everyday commands\n')[1]?.split('\n## ')[0] ?? ''
  const stream = { write: () => undefined }
  const program = createProgram(
    { stdout: stream, stderr: stream, version: '1' },
    { isJson: false },
    async () => {},
  )
  // What explains itself, and what the other sections are about.
  const elsewhere = ['config', 'demo', 'version', 'help']

  test.each(program.commands.map((command) => command.name()).filter((name) => !elsewhere.includes(name)))(
    'names %s',
    (name) => {
      expect(table).toMatch(new RegExp(`\`(?:pilotlight )?${name}[ \`]`))
    },
  )
})
