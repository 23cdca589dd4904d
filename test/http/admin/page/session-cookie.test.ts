import { expect, test } from 'vitest'
import { cookieName } from '../../../../src/http/admin/page/session-cookie.ts'

test.each([
  ['127.0.0.1:8081', 'http', 'pilotlight-8081'],
  ['[::1]:9000', 'http', 'pilotlight-9000'],
  ['pilotlight.example', 'https', '__Host-pilotlight'],
  ['pilotlight.example:8443', 'https', '__Host-pilotlight-8443'],
  ['odd:port', 'http', 'pilotlight'],
])('at %s by %s the cookie is %s', (host, protocol, name) => {
  expect(cookieName({ host, protocol })).toBe(name)
})
