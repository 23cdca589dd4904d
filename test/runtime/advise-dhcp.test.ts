import { describe, expect, it } from 'vitest'
import type { BootDecision } from '../../src/core/boot-decision.ts'
import type { BootClient } from '../../src/core/client.ts'
import type { InventoryParts } from '../../src/core/host.ts'
import { reason } from '../../src/core/reason.ts'
import { createDhcpAdvice } from '../../src/runtime/advise-dhcp.ts'
import { makeClient, makeHost, makeInventory, makeProfile } from '../fakes/machines.ts'

const firmware = (sketch: Partial<BootClient> = {}) => makeClient({ loader: 'none', ...sketch })

function advise(client: BootClient, parts: Partial<InventoryParts>, decided: Partial<BootDecision> = {}) {
  const decision = { kind: 'local', method: 'exit 1', reasons: [reason('host-unknown')], ...decided }
  return createDhcpAdvice(
    {
      bootService: { explain: () => decision as BootDecision },
      inventory: () => makeInventory(parts),
      streams: () =>
        new Map([
          ['stable', { loaderSet: 'debian' }],
          ['plain', {}],
        ]),
    },
    () => 0,
  )(client)
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

  it('is worked out once for a decision, and anew for another one', () => {
    const host = makeHost({ loader: 'ipxe.efi' })
    const inventory = makeInventory({ hosts: [host] })
    const decide = () =>
      ({ kind: 'local', method: 'exit 1', host, reasons: [reason('mode-local')] }) as unknown as BootDecision
    let decision = decide()
    let looks = 0
    const adviser = {
      bootService: { explain: () => decision },
      inventory() {
        looks += 1
        return inventory
      },
      streams: () => new Map(),
    }
    const ask = createDhcpAdvice(adviser, () => 0)
    const first = ask(firmware())
    expect(ask(firmware())).toBe(first)
    expect(looks).toBe(1)
    decision = decide()
    expect(ask(firmware())).toEqual(first)
    expect(looks).toBe(2)
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
