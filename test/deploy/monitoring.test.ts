import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { scrapedMetrics } from '../fakes/scraped-metrics.ts'

const deploy = resolve(import.meta.dirname, '../../deploy')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity?: string }
  readonly annotations: Readonly<Record<string, string>>
}
interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
interface RuleTests {
  readonly tests: readonly {
    readonly promql_expr_test: readonly { readonly exp_samples: readonly { readonly labels: string }[] }[]
  }[]
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly description?: string
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const read = (path: string) => readFileSync(resolve(deploy, path), 'utf8')
const rules = (parse(read('prometheus/pilotlight.rules.yaml')) as RuleFile).groups.flatMap(
  (group) => group.rules,
)
const ruleTests = parse(read('prometheus/pilotlight.rules.test.yaml')) as RuleTests
const { panels } = JSON.parse(read('grafana/pilotlight.json')) as Dashboard
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
]

/** Added by Prometheus itself. */
const scraped = ['instance', 'job', 'le']

/** Every metric of an expression, with the labels that are asked of it. */
function metricsOf(expression: string): readonly (readonly [name: string, labels: readonly string[]])[] {
  return [...expression.matchAll(/\b((?:pilotlight|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => [
      name,
      [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    ],
  )
}

/** Values that are compared with a closed set of ours, as alternatives of the selector. */
function valuesOf(expression: string): readonly (readonly [name: string, label: string, value: string])[] {
  return [...expression.matchAll(/\b(pilotlight_[a-z0-9_]+)\{([^}]*)\}/g)].flatMap(
    ([, name = '', selector = '']) =>
      [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)"([^"$]*)"/g)].flatMap(([, label = '', values = '']) =>
        values.split('|').map((value) => [name, label, value] as const),
      ),
  )
}

test.each(expressions)(
  '%s asks for metrics that the service has, with labels that they have: %s',
  async (_, expression) => {
    const known = await scrapedMetrics()
    const asked = metricsOf(expression)
    for (const [name, labels] of asked) {
      expect([...known.keys()], name).toContain(name)
      for (const label of labels)
        expect([...(known.get(name)?.keys() ?? []), ...scraped], name).toContain(label)
    }
    const all = asked.flatMap(([name]) => [...(known.get(name)?.keys() ?? [])])
    for (const [, by = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
      for (const label of by.split(',')) expect([...all, ...scraped]).toContain(label.trim())
    }
  },
)

test.each(expressions)('%s asks for values that the service tells: %s', async (_, expression) => {
  const known = await scrapedMetrics()
  for (const [name, label, value] of valuesOf(expression)) {
    if (scraped.includes(label)) continue
    expect([...(known.get(name)?.get(label) ?? [])], `${name}{${label}}`).toContain(value)
  }
})

describe('alerts', () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s says what is wrong and what to do',
    (_, rule) => {
      expect(['critical', 'warning', 'info']).toContain(rule.labels.severity)
      for (const part of ['summary', 'description', 'action']) {
        expect((rule.annotations[part] ?? '').length, part).toBeGreaterThan(20)
      }
      expect(rule.annotations.description).toContain('{{ $labels.')
    },
  )

  const samples = ruleTests.tests.flatMap(({ promql_expr_test: checks }) =>
    checks.map(({ exp_samples }) => exp_samples),
  )

  test.each(rules.map(({ alert }) => [alert]))('%s fires in a test of the rules', (alert) => {
    expect(samples.flat().some(({ labels }) => labels.includes(`alertname="${alert}"`))).toBe(true)
  })

  test('some inputs of the tests fire nothing', () => {
    expect(samples.filter((expected) => expected.length === 0).length).toBeGreaterThan(5)
  })
})

describe('the dashboard', () => {
  test('has each panel once, described, and none over another', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const drawn = panels.filter(({ type }) => type !== 'row')
    expect(drawn.length).toBeGreaterThan(20)
    const cells = new Set<string>()
    for (const { title, description = '', targets = [], gridPos } of drawn) {
      expect(description, title).not.toBe('')
      expect(targets.length, title).toBeGreaterThan(0)
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(cells.has(`${x} ${y}`), title).toBe(false)
          cells.add(`${x} ${y}`)
        }
      }
    }
  })

  test('every expression is of the chosen instance', () => {
    for (const { targets = [] } of panels) {
      for (const { expr } of targets) expect(expr).toContain('instance=~"$instance"')
    }
  })
})
