import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCliHarness } from '../fakes/cli-harness.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pilotlight-readme-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

/** The files of a section of the README, in the order in which a reader writes them. */
async function filesOf(section: string): Promise<readonly (readonly [name: string, text: string])[]> {
  const readme = await readFile(resolve(import.meta.dirname, '../../README.md'), 'utf8')
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  return [...text.matchAll(/put this into `([^`]+)`:\n\n```yaml\n(.*?)```/gis)].map(
    ([, name = '', yaml = '']) => [name, yaml] as const,
  )
}

test('the configuration in five minutes is without mistakes, written in its order', async () => {
  const files = await filesOf('Configuration in five minutes')
  expect(files.map(([name]) => name)).toEqual(['hosts.d/rack1.yaml', 'pilotlight.yaml'])
  for (const [name, text] of files) {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  const { code, stdout, stderr } = await createCliHarness({ cwd }).run('config', 'check')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('no mistakes')
})

test('a pin of the example can be resolved by the example', async () => {
  const [hosts, config] = await filesOf('Configuration in five minutes')
  expect(hosts?.[1]).toMatch(/pin: \{ release: /)
  expect(config?.[1]).toMatch(/releaseIndex: https:/)
})
