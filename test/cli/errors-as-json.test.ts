import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { asksForJson } from '../../src/cli/asks-for-json.ts'
import { ServiceError } from '../../src/core/errors.ts'
import { createCliHarness } from '../fakes/cli-harness.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-json-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

/** The one line of JSON that a program reads. */
function errorOf(stderr: string): unknown {
  const lines = stderr.split('\n')
  expect(lines.pop()).toBe('')
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] ?? '').error
}

describe('an error with --output json is one line of JSON on stderr', () => {
  test('an unknown option, with what was meant', async () => {
    const { code, stdout, stderr } = await createCliHarness({ cwd }).run('gc', '--dryrun', '-o', 'json')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(errorOf(stderr)).toEqual({
      code: 'USAGE',
      message: "unknown option '--dryrun'",
      hint: 'Did you mean --dry-run?',
      exitCode: 2,
    })
  })

  test('an unknown command, and none at all', async () => {
    const { run } = createCliHarness({ cwd })
    expect(errorOf((await run('-o', 'json', 'steams')).stderr)).toMatchObject({
      code: 'USAGE',
      hint: 'Did you mean streams?',
    })
    expect(errorOf((await run('--output=json')).stderr)).toMatchObject({
      code: 'USAGE',
      message: 'no command is given',
    })
  })

  test('a mistake in the configuration, each with its place', async () => {
    await writeFile(join(cwd, 'pilotlight.yaml'), 'version: 1\nlog: { level: wran }\nkeep: 1\n')
    const { code, stderr } = await createCliHarness({ cwd }).run('streams', '--output', 'json')
    expect(code).toBe(78)
    expect(errorOf(stderr)).toMatchObject({
      code: 'CONFIG_INVALID',
      exitCode: 78,
      problems: [
        { file: 'pilotlight.yaml', line: 2, column: 15, path: 'log.level', hint: 'did you mean "warn"?' },
        { line: 3, path: 'keep' },
      ],
    })
  })

  test('a failure of the work, with the parameter that is wrong', async () => {
    const explain = () =>
      Promise.reject(
        new ServiceError('NOT_FOUND', 'no host has the id x', { field: 'host', hint: 'see hosts.d' }),
      )
    const { code, stderr } = await createCliHarness({ cwd, answers: { explain } }).run(
      ...['explain', '--host', 'x', '-ojson'],
    )
    expect(code).toBe(2)
    expect(errorOf(stderr)).toEqual({
      code: 'NOT_FOUND',
      message: 'no host has the id x',
      hint: 'see hosts.d',
      field: 'host',
      exitCode: 2,
    })
  })

  test('a defect of ours', async () => {
    const streams = () => Promise.reject(new TypeError('boom'))
    const { code, stderr } = await createCliHarness({ cwd, answers: { streams } }).run(
      'streams',
      '-o',
      'json',
    )
    expect(code).toBe(1)
    expect(errorOf(stderr)).toMatchObject({ code: 'INTERNAL', message: 'unexpected error: TypeError: boom' })
  })

  test('without it the same errors are words', async () => {
    const { stderr } = await createCliHarness({ cwd }).run('gc', '--dryrun')
    expect(stderr).toMatch(/^pilotlight: unknown option/)
  })
})

test.each([
  [['streams', '-o', 'json'], true],
  [['-ojson', 'streams'], true],
  [['-o=json'], true],
  [['--output=json'], true],
  [['--output', 'json', '-o', 'table'], false],
  [['import', '--', '-o', 'json'], false],
  [['streams', '-o'], false],
  [['streams'], false],
])('%j asks for JSON: %s', (argv, expected) => {
  expect(asksForJson(argv)).toBe(expected)
})
