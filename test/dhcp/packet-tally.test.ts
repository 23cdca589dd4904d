import { expect, it } from 'vitest'
import { silenceReasons } from '../../src/dhcp/answer.ts'
import { createPacketTally, packetTypes } from '../../src/dhcp/packet-tally.ts'
import { createTroubleTally, troubles } from '../../src/dhcp/trouble-tally.ts'

it('packets are counted by type and outcome, and every name is there before the first', () => {
  const tally = createPacketTally()
  expect(Object.keys(tally.counts().packets)).toEqual([...packetTypes])
  expect(Object.keys(tally.counts().silences)).toEqual([...silenceReasons])
  tally.noteReply(1, 'offer')
  tally.noteReply(1, 'offer')
  tally.noteReply(3, 'acknowledge')
  tally.noteReply(3, 'refuse')
  tally.noteSilence(1, 'not-a-boot-client')
  tally.noteSilence(undefined, 'packet-too-short')
  tally.noteSilence(200, 'message-type-not-for-servers')
  const { packets, replies, silences } = tally.counts()
  expect(packets.discover).toEqual({ offer: 2, acknowledge: 0, refuse: 0, unanswered: 1 })
  expect(packets.request).toEqual({ offer: 0, acknowledge: 1, refuse: 1, unanswered: 0 })
  expect(packets.other.unanswered).toBe(2)
  expect(replies).toEqual({ offer: 2, acknowledge: 1, refuse: 1 })
  expect(silences['packet-too-short']).toBe(1)
})

it('counts that were given out do not change any more', () => {
  const tally = createPacketTally()
  const before = tally.counts()
  tally.noteReply(1, 'offer')
  expect(before.packets.discover.offer).toBe(0)
})

it('troubles are counted by name, and what happens at every boot is none', () => {
  const tally = createTroubleTally()
  expect(Object.keys(tally.counts())).toEqual([...troubles])
  tally.note({ type: 'leases-not-stored', at: 0, problem: 'ENOSPC', changes: 3 })
  tally.note({
    type: 'ignored',
    at: 0,
    interface: 'eth1',
    mac: undefined,
    reason: 'not-a-request',
    port: 'server',
  })
  expect(Object.entries(tally.counts()).filter(([, count]) => count > 0)).toEqual([['leases-not-stored', 1]])
})
