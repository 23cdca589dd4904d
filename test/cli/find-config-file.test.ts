import { expect, test } from 'vitest'
import { findConfigFile } from '../../src/cli/find-config-file.ts'

const cwd = '/home/admin'
const all = () => true

test('the flag wins over the variable, and both may be relative', () => {
  const env = { PILOTLIGHT_CONFIG: 'env.yaml' }
  expect(findConfigFile({ flag: 'flag.yaml', env, cwd, exists: all })).toBe('/home/admin/flag.yaml')
  expect(findConfigFile({ env, cwd, exists: all })).toBe('/home/admin/env.yaml')
})

test('a named file is named even when it does not exist, so that the loader complains', () => {
  expect(findConfigFile({ flag: '/x.yaml', env: {}, cwd, exists: () => false })).toBe('/x.yaml')
})

test('the working directory wins over /etc, and none is no error', () => {
  expect(findConfigFile({ env: {}, cwd, exists: all })).toBe('/home/admin/pilotlight.yaml')
  expect(findConfigFile({ env: {}, cwd, exists: (path) => path.startsWith('/etc/') })).toBe(
    '/etc/pilotlight/pilotlight.yaml',
  )
  expect(findConfigFile({ env: { PILOTLIGHT_CONFIG: '' }, cwd, exists: () => false })).toBeUndefined()
})
