import { expect, test } from 'vitest'
import { loadKoffi } from '../../src/native/koffi.ts'

test('a package that is not there is no failure', async () => {
  expect(await loadKoffi('pilotlight-no-such-package')).toBeUndefined()
})
