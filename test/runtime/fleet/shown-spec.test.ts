import { expect, test } from 'vitest'
import { shownSpec, withSecretsKept } from '../../../src/runtime/fleet/shown-spec.ts'

const secrets = [
  { inline: '{"ignition":{"version":"3.4.0"}}', template: false },
  { url: 'https://user:secret@example.com/worker.ign?token=secret' },
]

test.each(secrets)('G12 a record is shown without its secret, and comes back with it: %j', (ignition) => {
  const before = { profile: 'worker', ignition }
  const shown = shownSpec(before)
  expect(JSON.stringify(shown)).not.toMatch(/secret|3\.4\.0/)
  expect(withSecretsKept({ ...shown, profile: 'other' }, before)).toEqual({ profile: 'other', ignition })
})

test('a config that was changed is taken as it was sent', () => {
  const before = { ignition: { inline: '{"a":1}' } }
  const shown = shownSpec(before)
  for (const ignition of [{ inline: '{"b":2}' }, { ...Object(shown.ignition), template: false }]) {
    expect(withSecretsKept({ ignition }, before)).toEqual({ ignition })
  }
  expect(withSecretsKept({ profile: 'x' }, before)).toEqual({ profile: 'x' })
})

test('what stands for a secret is no secret of another record', () => {
  const shown = shownSpec({ ignition: { inline: '{"a":1}' } })
  expect(withSecretsKept(shown, undefined)).toEqual(shown)
  expect(withSecretsKept(shown, { ignition: { inline: 'another length' } })).toEqual(shown)
})
