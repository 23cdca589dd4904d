import { expect, it } from 'vitest'
import { createTimeline } from '../../../src/boot/timeline/create-timeline.ts'
import type { BootId } from '../../../src/core/boot-event.ts'
import { parseMac } from '../../../src/core/mac.ts'
import { reason } from '../../../src/core/reason.ts'

const address = '192.0.2.1'
const start = Date.parse('2026-11-29T12:00:00Z')
const cardOf = (number: number) => {
  const mac = parseMac(`5254000000${number.toString(16).padStart(2, '0')}`)
  if (mac === undefined) throw new Error('no MAC')
  return mac
}

/** Machines behind one address: their loaders say nothing of themselves before they ask what to boot. */
function behindOneAddress() {
  let now = start
  const timeline = createTimeline({ clock: { now: () => now }, random: () => 0.5 })
  const bootIdOf = (number: number) => `${number}`.padEnd(22, 'A') as BootId
  return {
    timeline,
    wait(ms: number) {
      now += ms
    },
    entry() {
      timeline.note({ type: 'entry-sent', at: now, name: 'boot.ipxe', address })
      now += 10
    },
    decided(number: number) {
      const why = reason('follows-current', { stream: 's', release: '44.1' })
      timeline.note({
        type: 'decided',
        at: now,
        bootId: bootIdOf(number),
        kind: 'live',
        reason: 'follows-current',
        reasons: [why],
        mac: cardOf(number),
        address,
        files: ['kernel', 'rootfs'],
      })
      now += 10
    },
    fetch(number: number, ...roles: readonly ('kernel' | 'rootfs')[]) {
      for (const role of roles) {
        const bootId = bootIdOf(number)
        const sent = {
          role,
          method: 'GET',
          status: 200,
          sentBytes: 9,
          totalBytes: 9,
          completed: true,
        } as const
        timeline.note({ type: 'artifact-sent', at: now, bootId, address, ...sent })
        now += 10
      }
    },
    bootsOf: (number: number) => timeline.of({ macs: [cardOf(number)] }),
  }
}

it('machines that boot one after the other behind one address have a boot each, with all of its steps', () => {
  const lab = behindOneAddress()
  for (const number of [1, 2, 3]) {
    lab.entry()
    lab.decided(number)
    lab.fetch(number, 'kernel', 'rootfs')
  }
  for (const number of [1, 2, 3]) {
    const boots = lab.bootsOf(number)
    expect(boots.map(({ outcome }) => outcome)).toEqual(['served'])
    expect(boots[0]?.steps.map(({ type }) => type)).toEqual([
      'entry-sent',
      'decided',
      'artifact-sent',
      'artifact-sent',
    ])
  }
  expect(lab.timeline.attempts()).toHaveLength(3)
})

it('a boot that stands still is not over because another machine begins one behind the same address', () => {
  const lab = behindOneAddress()
  lab.entry()
  lab.decided(1)
  lab.fetch(1, 'kernel')
  lab.wait(3 * 60_000)
  lab.entry()
  lab.decided(2)
  lab.timeline.settle(start + 200_000)
  expect(lab.bootsOf(1).map(({ state }) => state)).not.toContain('over')
  expect(lab.bootsOf(2)).toHaveLength(1)
})

it('a machine that begins anew at its own address ends its boot before when it says its card', () => {
  const lab = behindOneAddress()
  lab.entry()
  lab.decided(1)
  lab.fetch(1, 'kernel')
  lab.wait(11 * 60_000)
  lab.entry()
  lab.decided(1)
  expect(lab.bootsOf(1).map(({ outcome }) => outcome)).toEqual([undefined, 'superseded'])
})
