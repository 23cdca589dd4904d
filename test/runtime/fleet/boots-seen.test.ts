import { expect, it } from 'vitest'
import type { BootEvent, BootId } from '../../../src/core/boot-event.ts'
import type { BootLease } from '../../../src/core/boot-lease.ts'
import type { Uuid } from '../../../src/core/uuid.ts'
import { createBootsSeen } from '../../../src/runtime/fleet/boots-seen.ts'
import { mac, makeHost, nodeMac } from '../../fakes/machines.ts'

const otherMac = mac('52:54:00:00:00:77')
const bootId = 'A'.repeat(22) as BootId

function seen(attempts: readonly Partial<BootLease>[] = [], strangerSeenAt?: () => number | undefined) {
  const leases = { attempts: () => attempts as readonly BootLease[] }
  return createBootsSeen({ leases, flagsOf: () => [], ...(strangerSeenAt && { strangerSeenAt }) })
}

const answered = (host: string, at: number) =>
  ({ type: 'dhcp-answered', at, mac: nodeMac, host, role: 'proxy', message: 'offer' }) satisfies BootEvent

it('a machine stays seen when its host gets another name, and whoever gets the name next was not', () => {
  const boots = seen()
  boots.note(answered('old', 5))
  expect(boots.lastSeenAt(makeHost({ id: 'new', macs: [otherMac, nodeMac] }))).toBe(5)
  expect(boots.lastSeenAt(makeHost({ id: 'old', macs: [otherMac] }))).toBeUndefined()
})

it('what a token brings is of the machine that its boot began with', () => {
  const boots = seen()
  boots.note(answered('old', 5))
  boots.note({ type: 'ignition-sent', at: 7, bootId, host: 'old', address: '192.0.2.1', system: 'live' })
  expect(boots.lastSeenAt(makeHost({ id: 'new' }))).toBe(7)
})

it('a host that is recognised by its UUID may ask with any card', () => {
  const boots = seen()
  boots.note(answered('n1', 5))
  const uuid = '4c4c4544-0031-3010-8043-b4c04f4d3132' as Uuid
  expect(boots.lastSeenAt(makeHost({ id: 'n1', macs: [], uuid }))).toBe(5)
})

it('boots of before a restart and of before there was a record count', () => {
  const boots = seen([
    { host: 'n1', mac: nodeMac, lastSeenAt: 3 },
    { mac: otherMac, lastSeenAt: 4 },
  ])
  boots.restore()
  expect(boots.lastSeenAt(makeHost({ id: 'renamed' }))).toBe(3)
  expect(boots.lastSeenAt(makeHost({ id: 'n2', macs: [otherMac] }))).toBe(4)
  expect(seen([], () => 9).lastSeenAt(makeHost())).toBe(9)
})
