import { expect, test } from 'vitest'
import { createFleetMemory } from '../../../src/runtime/fleet/fleet-memory.ts'
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts'
import { createHostList } from '../../../src/runtime/fleet/host-list.ts'
import { createPinList } from '../../../src/runtime/fleet/pin-list.ts'
import { makeHost, makeInventory, makeProfile } from '../../fakes/machines.ts'
import { t0 } from '../../fakes/stored-fleet.ts'

test('a pin counts the hosts that it is in force for also after a start, when it was read twice', async () => {
  const stored = () => ({
    records: [],
    settings: [
      { kind: 'pin', target: { kind: 'host', name: 'n01' }, release: '44.1', by: 'alice', at: t0 } as const,
    ],
    installs: [],
    tokens: [],
    revocations: [],
  })
  const fleet = createFleetView()
  const profiles = [makeProfile({ name: 'worker', stream: 's' })]
  fleet.takeFiles(makeInventory({ hosts: [makeHost({ id: 'n01', profile: 'worker' })], profiles }))
  fleet.load(stored())
  const memory = createFleetMemory()
  memory.load(stored())

  const clock = { now: () => t0 }
  const architecturesOf = () => ['x86_64'] as const
  const list = createPinList({
    memory,
    clock,
    architecturesOf,
    view: () => ({ inventory: fleet.inventory(), now: t0 }) as never,
    hosts: createHostList({ inventory: () => fleet.inventory(), architecturesOf, now: clock.now }),
    files: { of: ({ arch }) => ({ arch, state: 'ready' }), recordOf: () => undefined },
  })
  const facts = await list.facts()
  expect((await list.matching({})).map((listed) => list.show(listed, facts))).toMatchObject([
    { release: '44.1', isOrphan: false, hosts: 1, files: [{ arch: 'x86_64', state: 'ready' }] },
  ])
})
