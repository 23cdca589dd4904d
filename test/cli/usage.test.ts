import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCliHarness, type HarnessOptions } from '../fakes/cli-harness.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-usage-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})
const harness = (options: Omit<HarnessOptions, 'cwd'> = {}) => createCliHarness({ cwd, ...options })

test.each(['--version', '-V'])('%s prints the version', async (flag) => {
  expect(await harness().run(flag)).toEqual({ code: 0, stdout: 'pilotlight 1.2.3\n', stderr: '' })
})

describe('a word that is not one of the allowed ones gets the one that was meant', () => {
  test.each([
    [['streams', '--output', 'jsn'], 'json'],
    [['streams', '--log-level', 'warning'], 'warn'],
    [['render', '--mac', 'x', '--template', 'lvie'], 'live'],
    [['render', '--mac', 'x', '--dialect', 'gurb'], 'grub'],
    [['explain', '--mac', 'x', '--platform', 'bios'], 'pcbios'],
    [['bootimages', '--arch', 'x86_46'], 'x86_64'],
  ])('%j', async (argv, meant) => {
    const { code, stdout, stderr } = await harness().run(...argv)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`did you mean "${meant}"`, 'i'))
  })
})

describe('help', () => {
  test('of a command below another one', async () => {
    const { code, stdout } = await harness().run('help', 'config', 'check')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Usage: pilotlight config check /)
  })

  test('of nothing is the whole', async () => {
    expect((await harness().run('help')).stdout).toBe((await harness().run('--help')).stdout)
  })

  test.each([
    [['help', 'steams'], 'streams'],
    [['help', 'config', 'shwo'], 'show'],
  ])('%j says what was meant', async (argv, meant) => {
    const { code, stdout, stderr } = await harness().run(...argv)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pilotlight: unknown command '/)
    expect(stderr).toContain(`Did you mean "${meant}"?`)
  })
})

test.each([
  ['ftp://192.0.2.1', 'its scheme is ftp'],
  ['192.0.2.1', 'it is not a URL'],
  ['http://192.0.2.1/boot', 'it has a path'],
  ['http://192.0.2.1/', 'it ends with a slash'],
])('render --base-url %s is a usage error', async (url, problem) => {
  const { run, operations } = harness()
  const { code, stderr } = await run('render', '--host', 'a', '--base-url', url)
  expect(code).toBe(2)
  expect(stderr).toContain(problem)
  expect(stderr).toContain('http://192.0.2.10:8080')
  expect(operations.calls).toEqual([])
})

test('import of a pipe says so at once', async () => {
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  const { code, stderr } = await harness().run('import', 'pipe', '--stream', 's')
  expect(code).toBe(2)
  expect(stderr).toMatch(/it is not a regular file\n.*save what comes from a pipe to a file/)
})

test('only commands that bring something into it may make a data directory', async () => {
  const asked: Record<string, boolean> = {}
  await writeFile(join(cwd, 'd.json'), '{}')
  for (const argv of [
    ['streams'],
    ['bootimages'],
    ['loaders'],
    ['explain', '--mac', 'x'],
    ['render', '--mac', 'x'],
    ['verify'],
    ['gc'],
    ['sync'],
    ['import', 'd.json', '--stream', 's'],
    ['host list'],
    ['host add', 'n7', '--mac', '52:54:00:00:00:07'],
    ['host import', 'd.json'],
    ['host import', 'd.json', '--dry-run'],
    ['group set', 'edge', '--set', 'profile=w'],
    ['token create', 'ops-laptop'],
    ['token list'],
    ['restore', 'b.db', '--yes'],
    ['backup', 'b.db'],
    ['pin', 'n7', '44.1'],
  ]) {
    const openOffline = async ({ mayCreate }: { mayCreate: boolean }) => {
      asked[argv.join(' ')] = mayCreate
      throw new Error('far enough')
    }
    await harness({ runtime: { openOffline } }).run(
      ...argv.flatMap((word, index) => (index === 0 ? word.split(' ') : [word])),
    )
  }
  expect(Object.keys(asked)).toHaveLength(19)
  expect(Object.entries(asked).flatMap(([name, may]) => (may ? [name] : []))).toEqual([
    'sync',
    'import d.json --stream s',
    'host add n7 --mac 52:54:00:00:00:07',
    'host import d.json',
    'group set edge --set profile=w',
    'token create ops-laptop',
    'restore b.db --yes',
  ])
})

describe('what serve says to type next', () => {
  const nextOf = async (options: Omit<HarnessOptions, 'cwd'>, ...argv: string[]) => {
    const { stderr } = await harness(options).run('serve', ...argv)
    return stderr.split('Next, in another terminal:\n')[1]?.replaceAll(cwd, '/w')
  }

  test('names the data directory where no file does', async () => {
    expect(await nextOf({})).toContain('  pilotlight streams --data-dir /w/data  #')
  })

  test('names the file, and the directory as well where a flag or a variable set it', async () => {
    await writeFile(join(cwd, 'my file.yaml'), 'version: 1\ndataDir: d\nstreams: {}\n')
    expect(await nextOf({}, '--config', 'my file.yaml')).toContain(
      "  pilotlight streams --config '/w/my file.yaml'  #",
    )
    expect(await nextOf({ env: { PILOTLIGHT_DATA_DIR: 'e' } }, '--config', 'my file.yaml')).toContain(
      "  pilotlight config show --config '/w/my file.yaml' --data-dir /w/e  #",
    )
  })
})
