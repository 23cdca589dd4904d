import { expect, test } from 'vitest'
import { type ErrorCode, errorTexts, ServiceError } from '../../../src/core/errors.ts'
import { toApiFailure } from '../../../src/http/admin/api-error.ts'

test('every error code has a status that says whose fault it is', () => {
  const statuses = Object.fromEntries(
    (Object.keys(errorTexts) as ErrorCode[]).map((code) => [
      code,
      toApiFailure(new ServiceError(code)).status,
    ]),
  )
  for (const status of Object.values(statuses)) expect(status).toBeGreaterThanOrEqual(400)
  expect(statuses).toMatchObject({
    USAGE: 400,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    METADATA_INVALID: 422,
    INTERNAL: 500,
    UPSTREAM_UNREACHABLE: 502,
    STATE_UNAVAILABLE: 503,
    SPACE_INSUFFICIENT: 507,
  })
})

test.each([undefined, null, 'text', 42, new Error('hidden'), { statusCode: 500, message: 'hidden' }])(
  'thrown %j becomes INTERNAL without a word about the inside',
  (thrown) => {
    const { status, body } = toApiFailure(thrown)
    expect(status).toBe(500)
    expect(body.code).toBe('INTERNAL')
    expect(JSON.stringify(body)).not.toContain('hidden')
  },
)
