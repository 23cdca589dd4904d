import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { exampleText } from '../../src/config/example-text.ts'
import { formatExamples, formatHint } from '../../src/config/format-hints.ts'
import { type FormatName, formats } from '../../src/config/formats.ts'
import { hostsFileSchema } from '../../src/config/machine-schema.ts'
import { configSchema } from '../../src/config/schema.ts'
import type { SchemaNode } from '../../src/config/schema-parts.ts'
import { createValidate } from '../../src/config/validate.ts'
import { configFolder, problemsOf } from './config-folder.ts'

describe('the example of a format', () => {
  it.each(Object.keys(formats) as FormatName[])('%s is allowed by it', (name) => {
    expect(formats[name].problem(formatExamples[name])).toBeUndefined()
  })

  it('the example of a whole file is a good file, read as YAML', () => {
    expect(createValidate(hostsFileSchema)(parse(exampleText(hostsFileSchema as SchemaNode)))).toEqual([])
    const { properties = {} } = configSchema as SchemaNode
    for (const [key, schema] of Object.entries(properties)) {
      const data = { version: 1, [key]: parse(exampleText(schema)) }
      const problems = createValidate(configSchema)(data).filter(({ path }) => path[0] === key)
      // Only defaults may be missing in it.
      expect(problems.filter(({ message }) => !message.includes('is missing'))).toEqual([])
    }
  })
})

describe('what was probably meant', () => {
  it.each<[FormatName, string, string]>([
    ['duration', '15', '15m'],
    ['long-duration', '90', '90d'],
    ['long-duration', '90 days', '90d'],
    ['duration', '900', '900s'],
    ['duration', '15 min', '15m'],
    ['duration', '2 Hours', '2h'],
    ['listen-address', '8080', ':8080'],
    ['listen-address', 'http://0.0.0.0:80/', '0.0.0.0:80'],
    ['listen-address', '*:80', ':80'],
    ['boot-address', 'http://192.0.2.10:8080', '192.0.2.10:8080'],
    ['http-url', 'builds.example/stable.json', 'https://builds.example/stable.json'],
    ['http-url', 'htps://builds.example/x', 'https://builds.example/x'],
    ['http-url', 'http:/builds.example/x', 'http://builds.example/x'],
    ['origin', 'https://mirror.example/fcos/', 'https://mirror.example'],
    ['proxy-url', 'proxy.example:3128', 'http://proxy.example:3128'],
    ['arch', 'x86_46', 'x86_64'],
    ['until', '2026/12/31', '2026-12-31'],
    ['until', '2026-12-31 18:00', '2026-12-31T18:00Z'],
    ['device', 'sda', '/dev/sda'],
    ['sha256', `sha256:${'a'.repeat(64)}`, 'a'.repeat(64)],
    ['ipv4-subnet', '192.0.2.5/24', '192.0.2.0/24'],
    ['ipv4-subnet', '192.0.2.0/255.255.255.0', '192.0.2.0/24'],
    ['ipv4-range', '192.0.2.100-199', '192.0.2.100-192.0.2.199'],
    ['ipv4-range', '192.0.2.199-192.0.2.100', '192.0.2.100-192.0.2.199'],
    ['tftp-ports', '30000:30100', '30000-30100'],
    ['name', 'my stream', 'my-stream'],
    ['file-name', '/srv/tftp/snponly.efi', 'snponly.efi'],
  ])('as %s, %s is %s', (format, text, meant) => {
    expect(formatHint(format, text)).toBe(`did you mean ${JSON.stringify(meant)}?`)
  })

  it.each<[FormatName, string]>([
    ['duration', '99999999999'],
    ['http-url', 'gopher://builds.example/x'],
    ['arch', 'mips'],
    ['device', '../sda'],
    ['ipv4-subnet', '192.0.2.0'],
  ])('of %s, %s says too little for a guess', (format, text) => {
    expect(formatHint(format, text)).toBeUndefined()
  })
})

describe('the hint of a mistake', () => {
  const hintsOf = (text: string) =>
    problemsOf(() => configFolder({ 'pilotlight.yaml': `version: 1\n${text}\n` }).load()).map(
      ({ hint }) => hint,
    )
  it.each([
    [
      'a number alone as a time',
      'streams: { s: { source: { file: x }, refresh: 15 } }',
      'did you mean "15m"?',
    ],
    [
      'a number that text can be',
      'groups: { g: { match: { labels: { a: 1 } } } }',
      "write it in quotes: '1'",
    ],
    [
      'a number in quotes',
      "streams: { s: { source: { file: x }, keep: '2' } }",
      'write it without quotes: 2',
    ],
    ['a truth in quotes', 'profiles: { p: { secureBoot: "true" } }', 'write it without quotes: true'],
    ['yes', 'profiles: { p: { secureBoot: yes } }', 'write true'],
    ['one text instead of a list', 'profiles: { p: { kernelArguments: quiet } }', 'write a list: [quiet]'],
    [
      'a URL instead of a source',
      'streams: { s: { source: https://x.example/s } }',
      'write { url: https://x.example/s }',
    ],
    ['a path instead of a source', 'streams: { s: { source: s.json } }', 'write { file: s.json }'],
    ['a folder alone', 'hosts: hosts.d', 'write { directory: hosts.d }'],
    ['a profile alone', 'unknown: worker', 'write { profile: worker }'],
    ['a slip in a word of several forms', 'unknown: ignroe', 'did you mean "ignore"?'],
    ['a longer word', 'log: { level: warning }', 'did you mean "warn"?'],
    [
      'a key without a value',
      'streams: { s: { source: } }',
      'for example { url: https://builds.coreos.fedoraproject.org/streams/stable.json }',
    ],
    ['a misspelt key that must be there', 'streams: { s: { sorce: { file: x } } }', 'did you mean "source"?'],
    ['a text that is no list item', 'profiles: { p: { kernelArguments: "a b" } }', undefined],
  ])('%s', (_, text, hint) => {
    expect(hintsOf(text)).toEqual([hint])
  })

  it('a secret is not repeated in it', () => {
    const header = (value: string) =>
      `streams: { s: { source: { url: https://x.example/s, headers: { X-Token: ${value} } } } }`
    const [problem] = problemsOf(() =>
      configFolder({ 'pilotlight.yaml': `version: 1\n${header('"se\\tcret"')}\n` }).load(),
    )
    expect(JSON.stringify(problem)).not.toContain('cret"')
    expect(problem?.message).toMatch(/^found something else \(hidden\)/)
    expect(hintsOf(header('12345'))).toEqual([undefined])
  })
})
