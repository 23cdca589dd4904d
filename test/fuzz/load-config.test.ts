import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load-config.ts'
import type { ConfigProblem } from '../../src/config/problem.ts'
import { readYaml } from '../../src/config/read-yaml.ts'
import { startDefaults } from '../../src/config/schema.ts'
import { isServiceError } from '../../src/core/errors.ts'

const isSoak = process.env.SOAK !== undefined
const numRuns = isSoak ? 5000 : 100

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'pilotlight-fuzz-'))
  mkdirSync(join(cwd, 'hosts.d'))
  writeFileSync(join(cwd, 'worker.ign'), fixture('worker.ign'))
})
afterAll(() => rmSync(cwd, { recursive: true }))

/** Loads, and accepts a configuration or the one kind of error, with a place for every problem. */
function loadOrRefuse(main: string, hosts: string): 'loaded' | 'refused' {
  writeFileSync(join(cwd, 'pilotlight.yaml'), main)
  writeFileSync(join(cwd, 'hosts.d/a.yaml'), hosts)
  try {
    loadConfig({ file: 'pilotlight.yaml', env: {}, cwd })
    return 'loaded'
  } catch (error) {
    if (!isServiceError(error, 'CONFIG_INVALID')) throw error
    const problems = error.details.problems as readonly ConfigProblem[]
    expect(problems.length).toBeGreaterThan(0)
    for (const { line, column, message } of problems) {
      expect(line).toBeGreaterThan(0)
      expect(column).toBeGreaterThan(0)
      expect(message).not.toMatch(/undefined|\[object/)
    }
    return 'refused'
  }
}

const fixture = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../fixtures/config', name), 'utf8')
const goodMain = fixture('pilotlight.yaml')
const goodHosts = fixture('hosts.d/rack1.yaml')

/** Data that looks like a configuration: known keys with anything behind them. */
const keys = [...new Set(goodMain.concat(goodHosts).match(/[a-zA-Z]+(?=:)/g) ?? [])]
const leaf = fc.oneof(
  fc.constantFrom(
    ':80',
    '15m',
    'live',
    'ignore',
    'x86_64',
    'fcos-stable',
    '52:54:00:ab:cd:ef',
    'https://x.example/',
    '__proto__',
    'constructor',
  ),
  fc.string(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
)
const anyConfig = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie('node'), { maxKeys: 5 }),
  ),
})).node

describe('arbitrary configuration files', { timeout: isSoak ? 600_000 : 30_000 }, () => {
  it('the good ones load', () => {
    expect(loadOrRefuse(goodMain, goodHosts)).toBe('loaded')
  })

  it('any text is loaded or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void loadOrRefuse(text, text)),
      { numRuns },
    )
  })

  it('any text in place of an Ignition config is loaded or refused, with its line', () => {
    const good = fixture('worker.ign')
    const cut = fc
      .tuple(fc.nat(good.length), fc.nat(good.length), fc.string({ unit: 'binary', maxLength: 20 }))
      .map(([from, to, text]) => good.slice(0, from) + text + good.slice(to))
    fc.assert(
      fc.property(cut, (text) => {
        writeFileSync(join(cwd, 'worker.ign'), text)
        loadOrRefuse(goodMain, goodHosts)
      }),
      { numRuns },
    )
    writeFileSync(join(cwd, 'worker.ign'), good)
  })

  it('any text of YAML characters becomes data or problems', () => {
    const yamlish = fc.string({
      unit: fc.constantFrom(
        'a',
        'b',
        ':',
        ' ',
        '\n',
        '-',
        '?',
        '[',
        ']',
        '{',
        '}',
        ',',
        '&',
        '*',
        '!',
        '|',
        '>',
        '"',
        "'",
        '#',
        '%',
        '@',
        '\t',
        '1',
        '~',
        '<',
      ),
      maxLength: 60,
    })
    fc.assert(
      fc.property(yamlish, (text) => {
        const { value, problems } = readYaml(text, 'f')
        expect(value === undefined).toBe(problems.length > 0)
      }),
      { numRuns: numRuns * 5 },
    )
  })

  it('any data behind known keys is loaded or refused', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (main, hosts) => {
        loadOrRefuse(stringify({ version: 1, ...(main as object) }), stringify({ version: 1, hosts }))
      }),
      { numRuns },
    )
  })

  it('a good file with any value exchanged is loaded or refused', () => {
    const paths = leafPaths(startDefaults)
    fc.assert(
      fc.property(fc.constantFrom(...paths), anyConfig, (path, value) => {
        const data = structuredClone(startDefaults) as Record<string, unknown>
        exchange(data, path, value)
        loadOrRefuse(stringify(data), goodHosts)
      }),
      { numRuns },
    )
  })

  it('a good file cut anywhere, or with any character changed, is loaded or refused', () => {
    const damage = fc.record({
      at: fc.nat(goodMain.length),
      text: fc.string({ maxLength: 3 }),
      cut: fc.boolean(),
    })
    fc.assert(
      fc.property(damage, ({ at, text, cut }) => {
        loadOrRefuse(goodMain.slice(0, at) + text + (cut ? '' : goodMain.slice(at + 1)), goodHosts)
        const place = Math.min(at, goodHosts.length)
        loadOrRefuse(goodMain, goodHosts.slice(0, place) + text + (cut ? '' : goodHosts.slice(place + 1)))
      }),
      { numRuns },
    )
  })
})

function leafPaths(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => leafPaths(inner, [...path, key]))].filter(
    ({ length }) => length > 0,
  )
}

function exchange(data: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) data[key] = value
  else exchange(data[key] as Record<string, unknown>, rest, value)
}
