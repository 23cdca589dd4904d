import { expect, test } from 'vitest'
import { isOwnForm } from '../../../../src/http/admin/page/form-origin.ts'

const host = 'pilotlight.example:8081'

test.each([
  [{ origin: 'https://pilotlight.example:8081', fetchSite: 'same-origin' }, true],
  [{ origin: 'http://PILOTLIGHT.example:8081' }, true],
  [{ fetchSite: 'none' }, true],
  [{ origin: 'https://behind-a-proxy.example', fetchSite: 'same-origin' }, true],
  [{}, true],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'https://pilotlight.example' }, false],
  [{ origin: 'null' }, false],
  [{ origin: 'no url' }, false],
  [{ origin: '' }, false],
  [{ fetchSite: 'cross-site' }, false],
  [{ origin: 'https://pilotlight.example:8081', fetchSite: 'same-site' }, false],
])('a form with %j: %s', (headers, isOwn) => {
  expect(isOwnForm(headers, host)).toBe(isOwn)
})
