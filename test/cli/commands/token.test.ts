import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { createCliHarness } from '../../fakes/cli-harness.ts'
import { sampleToken } from '../../fakes/fleet-operations.ts'

const withTokens = (...tokens: (typeof sampleToken)[]) =>
  createCliHarness({ cwd: tmpdir(), answers: { fleet: { listTokens: async () => tokens } } })

test('a token is revoked by its id also when it is called like another', async () => {
  const { run, operations } = withTokens(
    { ...sampleToken, name: 'other' },
    { ...sampleToken, id: 'x', name: sampleToken.id },
  )
  expect((await run('token', 'revoke', sampleToken.id)).code).toBe(0)
  expect(operations.fleet.calls.at(-1)?.arguments[0]).toBe(sampleToken.id)
})

test('of two with one name it says which there are', async () => {
  const { run } = withTokens(sampleToken, { ...sampleToken, id: 'second' })
  expect(await run('token', 'revoke', 'ops-laptop')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('say which by its id: writer000001, second'),
  })
})

test('one that was revoked already does not stand in the way of its successor', async () => {
  const { run, operations } = withTokens(
    { ...sampleToken, revokedAt: '2026-11-28T00:00:00.000Z' },
    { ...sampleToken, id: 'second' },
  )
  expect((await run('token', 'revoke', 'ops-laptop')).code).toBe(0)
  expect(operations.fleet.calls.at(-1)?.arguments[0]).toBe('second')
})

test('a name that is not there gets the one that was meant', async () => {
  expect(await withTokens(sampleToken).run('token', 'revoke', 'ops-latpop')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "ops-laptop"?'),
  })
})

test('the list says which count', async () => {
  const { stdout } = await withTokens(
    sampleToken,
    { ...sampleToken, name: 'old', expiresAt: '2026-11-29T12:00:00.000Z' },
    { ...sampleToken, name: 'gone', revokedAt: '2026-11-28T00:00:00.000Z' },
  ).run('token', 'list')
  expect(stdout).toMatch(/ops-laptop .* counts$/m)
  expect(stdout).toMatch(/old .* over$/m)
  expect(stdout).toMatch(/gone .* revoked 2026-11-28T00:00:00Z$/m)
})
