import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { metricsText } from '../fakes/scraped-metrics.ts'

const deploy = resolve(import.meta.dirname, '../../deploy')
/** Of Debian's package prometheus. */
const program = 'promtool'
const hasPromtool = spawnSync(program, ['--version']).status === 0
if (!hasPromtool)
  console.warn('left out: alert rules and metrics; promtool is not here (apt install prometheus)')

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilotlight-promtool-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Its exit code, and all that it says. */
function promtool(args: readonly string[], input = ''): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return { code: status, text: stdout + stderr }
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

describe.skipIf(!hasPromtool)('promtool', () => {
  test('takes the alert rules', () => {
    expect(promtool(['check', 'rules', join(deploy, 'prometheus/pilotlight.rules.yaml')])).toMatchObject({
      code: 0,
    })
  })

  test('each alert fires on its input, and stays silent otherwise', { timeout: 60_000 }, () => {
    const { code, text } = promtool(['test', 'rules', join(deploy, 'prometheus/pilotlight.rules.test.yaml')])
    expect(text).toContain('SUCCESS')
    expect(code).toBe(0)
  })

  test('understands each expression of the dashboard', () => {
    const { panels } = JSON.parse(readFileSync(join(deploy, 'grafana/pilotlight.json'), 'utf8')) as Dashboard
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    const rules = expressions.map((expr, index) => ({
      record: `panel_${index}`,
      // Grafana puts these in.
      expr: expr
        .replaceAll('$__rate_interval', '5m')
        .replaceAll('$__range', '6h')
        .replaceAll('$instance', '.*'),
    }))
    const file = join(directory, 'dashboard.yaml')
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { code, text } = promtool(['check', 'rules', file])
    expect(text).toContain(`${expressions.length} rules found`)
    expect(code).toBe(0)
  })

  test('finds nothing to say about our metrics', async () => {
    const { text } = promtool(['check', 'metrics'], await metricsText())
    // Names that the client library gives to figures of Node.js.
    const notOurs = /^nodejs_active_\w+_total non-counter metrics should not have/
    expect(text.split('\n').filter((line) => line !== '' && !notOurs.test(line))).toEqual([])
  })
})
