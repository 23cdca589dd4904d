import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { has } from './boot-site.ts'

it.skipIf(!has('python3'))('the rig reads captures, consoles and disks as it says', () => {
  const done = spawnSync('python3', [resolve(import.meta.dirname, 'rig/test_rig.py')], { encoding: 'utf8' })
  expect(done.stderr).toMatch(/\nOK\n$/)
})
