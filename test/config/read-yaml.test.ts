import { describe, expect, it } from 'vitest'
import { problemText } from '../../src/config/problem.ts'
import { readYaml } from '../../src/config/read-yaml.ts'

const read = (text: string) => readYaml(text, 'f.yaml')
const problems = (text: string) => read(text).problems.map(problemText)

describe('YAML as data', () => {
  it('has the types of YAML 1.2: off is a word and a date is text', () => {
    expect(read('a: off\nb: 2026-12-31\nc: 0o17\nd: ~\ne: "1"\nf: yes\ng: 1_000').value).toEqual({
      a: 'off',
      b: '2026-12-31',
      c: 15,
      d: null,
      e: '1',
      f: 'yes',
      g: '1_000',
    })
  })

  it('a file of nothing or of comments is nothing', () => {
    expect([read('').value, read('# later\n').value, read('---\n').value]).toEqual([null, null, null])
  })

  it('JSON is YAML', () => {
    expect(read('{"a": [1, {"b": "c"}]}').value).toEqual({ a: [1, { b: 'c' }] })
  })

  it('an alias stands for what its anchor names', () => {
    const yaml = read('a: &x {b: 1}\nc: {d: *x}\n')
    expect(yaml.value).toEqual({ a: { b: 1 }, c: { d: { b: 1 } } })
    expect(yaml.position(['c', 'd', 'b'])).toEqual({ file: 'f.yaml', line: 1, column: 11 })
  })
})

describe('positions', () => {
  const yaml = read('version: 1\nboot:\n  http: { listen: "x" }\nlist:\n  - a: 1\n    b: [p, q]\n')
  it.each([
    [['version'], 'value', 1, 10],
    [['version'], 'key', 1, 1],
    [['boot', 'http', 'listen'], 'value', 3, 19],
    [['boot', 'http', 'listen'], 'key', 3, 11],
    [['list', 0], 'value', 5, 5],
    [['list', 0, 'b', 1], 'value', 6, 12],
    // what is not there: the nearest thing around it
    [['boot', 'http', 'absent', 'deep'], 'key', 3, 3],
    [['list', 7], 'key', 4, 1],
    [['nowhere'], 'value', 1, 1],
  ] as const)('%j, the %s, is at %d:%d', (path, part, line, column) => {
    expect(yaml.position(path, part)).toEqual({ file: 'f.yaml', line, column })
  })

  it('tells how a value was written', () => {
    expect(read('a: 4.10').sourceOf(['a'])).toBe('4.10')
    expect(read('a: 4.10').sourceOf(['b'])).toBeUndefined()
  })
})

describe('YAML that is refused', () => {
  it.each([
    [
      'a: 1\na: 2\nb: {c: 1, c: 2}',
      ['f.yaml:2:1: a: this key is there twice', 'f.yaml:3:11: b.c: this key is there twice'],
    ],
    ['a: 1\n---\nb: 1', ['f.yaml:2:1: cannot be read as YAML: there is more than one document']],
    ['\ta: 1', ['f.yaml:1:1: cannot be read as YAML: Tabs are not allowed as indentation']],
    ['a: "x', ['f.yaml:1:6: cannot be read as YAML: Missing closing "quote']],
    ['a: !!binary aGVsbG8=', ['f.yaml:1:13: a: found the tag tag:yaml.org,2002:binary, allowed: no tags']],
    ['a: !x y', ['f.yaml:1:4: cannot be read as YAML: Unresolved tag: !x']],
    ['a: *b', ['f.yaml:1:4: a: there is no anchor &b before this alias']],
    ['a: &b [*b]', ['f.yaml:1:8: a[0]: *b would contain itself']],
    [
      '1: x\nnull: y',
      ['f.yaml:1:1: a key must be plain text, found 1', 'f.yaml:2:1: a key must be plain text, found null'],
    ],
    ['? [a]\n: b', ['f.yaml:1:3: a key must be plain text']],
    ['__proto__: {a: 1}', ['f.yaml:1:1: "__proto__" cannot be a key']],
    ['%YAML 1.1\n---\na: off', ['f.yaml:1:1: found YAML 1.1, allowed: YAML 1.2']],
  ])('%j', (text, lines) => {
    expect(problems(text)).toEqual(lines)
    expect(read(text).value).toBeUndefined()
  })

  it('a merge key is only a strange key', () => {
    expect(read('<<: {a: 1}').value).toEqual({ '<<': { a: 1 } })
  })

  it.each([
    ['flow lists', '['.repeat(50_000)],
    ['closed flow lists', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['flow mappings', '{a: '.repeat(50_000)],
    ['block lists', '- '.repeat(50_000)],
    ['keys', '? '.repeat(50_000)],
    ['indentation', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    ['lists just deeper than allowed', `${'['.repeat(40)}${']'.repeat(40)}`],
  ])('deep nesting of %s ends in an error, not with the process', (_, text) => {
    expect(problems(text).join()).toMatch(/it is nested too deeply|cannot be read as YAML/)
  })

  it('aliases of aliases do not blow up', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let level = 1; level < 9; level++) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      )
    }
    expect(problems(lines.join('\n')).join()).toMatch(/its aliases stand for too many values$/)
  })

  it('more values than allowed are refused', () => {
    const few = { depth: 32, nodes: 10, aliasedNodes: 10 }
    expect(readYaml('[1, 2, 3, 4, 5, 6, 7, 8, 9]', 'f', few).problems).toEqual([])
    expect(readYaml('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]', 'f', few).problems[0]?.message).toBe(
      'it has too many values',
    )
  })

  it('a mapping of many keys takes no time to speak of', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n')
    expect(Object.keys(read(text).value as object)).toHaveLength(20_000)
  })
})
