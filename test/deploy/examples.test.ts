import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCliHarness } from '../fakes/cli-harness.ts'

const examples = resolve(import.meta.dirname, '../../deploy/examples')
let checkout: string

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'pilotlight-examples-'))
  cpSync(examples, checkout, { recursive: true })
})
afterEach(() => rmSync(checkout, { recursive: true, force: true }))

test('the example folder is without mistakes, as somebody copies it into a repository', async () => {
  const { code, stdout, stderr } = await createCliHarness({ cwd: checkout }).run('config', 'check')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('1 stream, 1 profile, 1 group, 3 hosts in 2 files')
})
