import { describe, expect, it } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootClient } from '../../src/core/client.ts'
import type { InventoryParts } from '../../src/core/host.ts'
import { reason } from '../../src/core/reason.ts'
import { adviseDhcp } from '../../src/runtime/advise-dhcp.ts'
import { makeClient, makeHost, makeInventory, makeProfile } from '../fakes/machines.ts'

const firmware = (sketch: Partial<BootClient> = {}) => makeClient({ loader: 'none', ...sketch })

function advise(client: BootClient, parts: Partial<InventoryParts>, decided: Partial<BootDecision> = {}) {
  const decision = { kind: 'local', method: 'exit 1', reasons: [reason('host-unknown')], ...decided }
  return adviseDhcp(
    client,
    {
      bootService: { explain: () => decision as BootDecision },
      inventory: () => makeInventory(parts),
      streams: () =>
        new Map([
          ['stable', { loaderSet: 'debian' }],
          ['plain', {}],
        ]),
    },
    0,
  )
}

describe('what DHCP is told of a machine', () => {
  it('an unknown machine is started as the profile for unknown machines says', () => {
    const profile = makeProfile({ name: 'guest', loader: 'ipxe.efi', dhcpStyle: 'binl' })
    const parts: Partial<InventoryParts> = {
      profiles: [profile],
      unknown: { kind: 'profile', profile: 'guest' },
    }
    expect(advise(firmware(), parts)).toMatchObject({ kind: 'local', loader: 'ipxe.efi', style: 'binl' })
    expect(advise(firmware(), { ...parts, unknown: { kind: 'ignore' } })).not.toHaveProperty('loader')
  })

  it.each([
    ['x86_64', 'debian/shimx64.efi'],
    ['aarch64', 'debian/shimaa64.efi'],
  ] as const)('with Secure Boot on, %s is started with the shim of its stream', (arch, loader) => {
    const host = makeHost({ stream: 'stable', secureBoot: true, loader: 'ipxe.efi' })
    expect(advise(firmware({ arch }), { hosts: [host] }, { host })).toMatchObject({ loader })
  })

  it('without a shim for it, the loader that was chosen for the machine counts', () => {
    const host = makeHost({ stream: 'plain', secureBoot: true, loader: 'ipxe.efi' })
    expect(advise(firmware(), { hosts: [host] }, { host })).toMatchObject({ loader: 'ipxe.efi' })
    const power = makeHost({ stream: 'stable', secureBoot: true })
    expect(advise(firmware({ arch: 'ppc64le' }), { hosts: [power] }, { host: power })).not.toHaveProperty(
      'loader',
    )
  })
})
