import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { byTester, type FleetLab, openFleetLab } from '../../fakes/fleet-lab.ts'

let lab: FleetLab
afterEach(() => lab.close())

async function open() {
  lab = await openFleetLab()
  return lab.fleet.operations
}

describe('tokens of the API', () => {
  it('let in who holds them, in their role, until they end or are revoked, over a restart as well', async () => {
    const fleet = await open()
    const { token, secret } = await fleet.createToken({ name: 'ops', role: 'write', until: '2h' }, byTester)
    expect(secret).toMatch(/^plt_[\w-]{12}_[\w-]{43}$/)
    const who = { actor: { by: 'token ops', via: 'api' }, role: 'write' }
    expect(fleet.authenticate(secret)).toEqual(who)
    expect((await fleet.listTokens())[0]?.lastUsedAt).toBeDefined()
    await lab.reopen()
    const again = lab.fleet.operations
    expect(again.authenticate(secret)).toEqual(who)
    await lab.time.advance(2 * 3_600_000)
    expect(again.authenticate(secret)).toBeUndefined()
    const other = await again.createToken({ name: 'ops', role: 'read' }, byTester)
    expect(again.authenticate(other.secret)?.role).toBe('read')
    await again.revokeToken(other.token.id, byTester)
    expect(again.authenticate(other.secret)).toBeUndefined()
    expect((await again.revokeToken(other.token.id, byTester)).revokedAt).toBeDefined()
    expect(token.id).not.toBe(other.token.id)
  })

  it('differ in one character and do not count, whichever it is', async () => {
    const fleet = await open()
    const { secret } = await fleet.createToken({ name: 'ops', role: 'read' }, byTester)
    fc.assert(
      fc.property(
        fc.nat(secret.length - 2),
        fc.constantFrom('A', 'b', '_', '-', '9', ' '),
        (place, other) => {
          fc.pre(secret[place] !== other)
          const forged = `${secret.slice(0, place)}${other}${secret.slice(place + 1)}`
          expect(fleet.authenticate(forged)).toBeUndefined()
        },
      ),
    )
    for (const text of ['', 'plt_', secret.slice(0, -1), `${secret}x`]) {
      expect(fleet.authenticate(text)).toBeUndefined()
    }
  })

  it('are kept as digests; their secrets are in no list, no record and no audit entry', async () => {
    const fleet = await open()
    const { secret } = await fleet.createToken({ name: 'ops', role: 'read', reason: 'laptop' }, byTester)
    const part = secret.slice(-43)
    const kept = await lab.engine.storage.store.loadFleet()
    expect(kept.tokens[0]?.hash).toBe(createHash('sha256').update(part).digest('hex'))
    const everything = JSON.stringify([kept, await fleet.listTokens(), await fleet.listAudit({})])
    expect(everything).not.toContain(part)
    expect((await fleet.listAudit({})).items).toMatchObject([{ action: 'token.create', reason: 'laptop' }])
  })

  it('have names that only one at a time has', async () => {
    const fleet = await open()
    await fleet.createToken({ name: 'ops', role: 'read' }, byTester)
    await expect(fleet.createToken({ name: 'ops', role: 'read' }, byTester)).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    await expect(fleet.createToken({ name: 'a b', role: 'read' }, byTester)).rejects.toMatchObject({
      code: 'USAGE',
    })
    await expect(fleet.revokeToken('ops', byTester)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
