import { expect, it } from 'vitest'
import { createBootsSeen } from '../../../src/runtime/fleet/boots-seen.ts'
import { runningBoot } from '../../fakes/boot-operations.ts'
import { mac, makeHost, nodeMac } from '../../fakes/machines.ts'
import { createMemoryStore } from '../../fakes/memory-store.ts'
import { makeAttempt } from '../../fakes/stored-attempts.ts'

const otherMac = mac('52:54:00:00:00:77')

function seen(options: Partial<Parameters<typeof createBootsSeen>[0]> = {}) {
  return createBootsSeen({
    lastBootAt: () => undefined,
    troubleOf: () => undefined,
    listBoots: async () => ({ items: [], total: 0 }),
    store: createMemoryStore(),
    conflictsOf: () => [],
    inventory: () => ({ hostsById: new Map([['n1', makeHost({ id: 'n1' })]]) }),
    ...options,
  })
}

it('a host was seen when it booted last, or when one of its cards asked before there was a record', () => {
  expect(seen().lastSeenAt(makeHost())).toBeUndefined()
  expect(seen({ lastBootAt: () => 5 }).lastSeenAt(makeHost())).toBe(5)
  expect(seen({ lastBootAt: () => 5, strangerSeenAt: () => 9 }).lastSeenAt(makeHost())).toBe(9)
})

it('a machine that becomes a host stays seen', () => {
  const boots = seen()
  boots.saw(otherMac, 7)
  expect(boots.lastSeenAt(makeHost({ macs: [nodeMac, otherMac] }))).toBe(7)
  expect(boots.lastSeenAt(makeHost({ macs: [nodeMac] }))).toBeUndefined()
})

it('what an admin should look at: marks that it shares, and what its last boot shows', () => {
  const boots = seen({
    conflictsOf: (id) => [`${id} shares a serial`],
    troubleOf: ({ id }) => `${id} is stuck`,
  })
  expect(boots.flagsOf('n1')).toEqual(['n1 shares a serial', 'n1 is stuck'])
  expect(boots.flagsOf('gone')).toEqual(['gone shares a serial'])
  expect(seen().flagsOf('n1')).toEqual([])
})

it('its last boots are those of the list', async () => {
  const boots = seen({
    listBoots: async ({ host, limit }) => ({
      items: host === 'n1' && limit === 10 ? [runningBoot] : [],
      total: 1,
    }),
  })
  expect(await boots.lastBoots('n1')).toEqual([runningBoot])
})

it('a host that has gone has booted, as long as that is kept', async () => {
  const store = createMemoryStore()
  await store.saveAttempts([makeAttempt(1)])
  expect(await seen({ store }).hasBooted('rack1-n1')).toBe(true)
  expect(await seen({ store }).hasBooted('rack1-n2')).toBe(false)
})
