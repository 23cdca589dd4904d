import { describe, expect, it } from 'vitest'
import type { BootClient } from '../../src/core/client.ts'
import { decideAsIf } from '../../src/runtime/decide-as-if.ts'
import { makeBootimage } from '../fakes/bootimages.ts'
import { makeCatalog } from '../fakes/catalogs.ts'
import { mac, makeHost, makeInventory, makeProfile } from '../fakes/machines.ts'

const known = mac('52:54:00:00:00:01')
const stranger = mac('52:54:00:99:99:99')
const view = {
  catalog: makeCatalog({ arch: 'x86_64', current: makeBootimage({ release: '44.1' }) }),
  inventory: makeInventory({
    hosts: [makeHost({ id: 'n01', macs: [known], profile: 'worker' })],
    profiles: [makeProfile({ name: 'worker', stream: 'fcos-stable', mode: 'local' })],
    unknown: { kind: 'profile', profile: 'worker' },
  }),
  now: 0,
}
const client = (address: typeof known): BootClient => ({
  macs: [address],
  arch: 'x86_64',
  firmware: 'uefi',
  loader: 'ipxe',
})
const told = (address: typeof known, template: 'live' | 'local' | 'hold') => {
  const decision = decideAsIf(template, client(address), view)
  return { kind: decision.kind, host: decision.host?.id, reasons: decision.reasons.map(({ code }) => code) }
}

describe('a machine as if it were in a mode', () => {
  it('that is a host stays who it is', () => {
    expect(told(known, 'live')).toEqual({
      kind: 'live',
      host: 'n01',
      reasons: ['follows-current', 'host-matched-by-mac'],
    })
  })

  it('that nobody knows has no record, and nothing says that it had one', () => {
    expect(told(stranger, 'live')).toEqual({
      kind: 'live',
      host: undefined,
      reasons: ['follows-current', 'host-unknown'],
    })
    expect(told(stranger, 'local')).toMatchObject({ kind: 'local', reasons: ['mode-local', 'host-unknown'] })
    expect(told(stranger, 'hold')).toMatchObject({ kind: 'hold', reasons: ['mode-hold', 'host-unknown'] })
  })
})
