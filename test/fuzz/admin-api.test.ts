import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFakeAdminApp } from '../fakes/admin-app.ts'
import { type ApiDocument, adminRequests } from './admin-requests.ts'

const runs = process.env.SOAK === '1' ? 100_000 : 3_000
const { app, ask, fleet, operations } = createFakeAdminApp()
/** The command line alone may do it, or the app itself. */
const notForClients = new Set(['createToken', 'backup', 'restore', 'authenticate', 'calls'])
let document: ApiDocument

beforeAll(async () => {
  document = (await ask('GET', '/api/v1/openapi.json')).json()
})
afterAll(() => app.close())

describe('requests made from the OpenAPI document, right and wrong', () => {
  test('none is answered with 5xx, and every refusal has a code and a message', async () => {
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(adminRequests(document), async ({ method, url, headers, body }) => {
        const answer = await ask(method as 'GET', url, { headers, ...(body !== undefined && { body }) })
        const { statusCode } = answer
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
        expect(statusCode).toBeLessThan(500)
        expect(answer.headers['x-content-type-options']).toBe('nosniff')
        expect(answer.headers['x-injected']).toBeUndefined()
        if (statusCode >= 400) {
          expect(answer.json()).toMatchObject({
            code: expect.stringMatching(/^[A-Z_]+$/),
            message: expect.stringMatching(/\S/),
          })
        }
      }),
      { numRuns: runs },
    )
    // It is worth nothing unless much of it gets through to the operations.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(runs / 20)
    expect(statuses.get(400) ?? 0).toBeGreaterThan(runs / 20)
    for (const asked of [fleet, operations.boots]) {
      const called = new Set<string>(asked.calls.map(({ name }) => name))
      expect(Object.keys(asked).filter((name) => !called.has(name) && !notForClients.has(name))).toEqual([])
    }
  }, 600_000)
})
