import { describe, expect, it } from 'vitest'
import { distrustOf } from '../../src/core/place-trust.ts'

const path = '/var/lib/pilotlight'
const service = 998

describe('a place that a user is about to believe', () => {
  it.each([
    ['its own, closed', service, 0o700],
    ['its own, readable', service, 0o755],
    ["root's, readable", 0, 0o750],
  ])('is trusted when it is %s', (_what, uid, mode) => {
    expect(distrustOf({ path, uid, mode }, service)).toBeUndefined()
  })

  it.each([
    ["another user's", 1000, 0o700, { by: 'owner', fix: 'chown -R 998 /var/lib/pilotlight' }],
    ['open to everybody', service, 0o777, { by: 'everybody', fix: 'chmod o-w /var/lib/pilotlight' }],
    ['open to everybody, though sticky', 0, 0o1777, { by: 'everybody' }],
    ['open to its group', service, 0o770, { by: 'group', fix: 'chmod g-w /var/lib/pilotlight' }],
    ['open to its group, which files inherit', 0, 0o2775, { by: 'group' }],
  ])('is not when it is %s', (_what, uid, mode, found) => {
    expect(distrustOf({ path, uid, mode }, service)).toMatchObject(found)
  })

  it("root does not trust another user's", () => {
    expect(distrustOf({ path, uid: service, mode: 0o700 }, 0)).toMatchObject({
      by: 'owner',
      why: 'it belongs to user 998, and this is user 0',
    })
  })

  it('says a command that a shell takes as it is', () => {
    const odd = distrustOf({ path: "/srv/o'brien data", uid: 1, mode: 0o700 }, service)
    expect(odd?.fix).toBe(`chown -R 998 '/srv/o'\\''brien data'`)
  })
})
