import { describe, expect, it } from 'vitest'
import type { BootEvent } from '../../../src/core/boot-event.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import { stepsOfMachine } from '../../fakes/boot-steps.ts'

const one = stepsOfMachine({ number: 1, host: 'n01' })
const mebibyte = 2 ** 20
const total = 1000

const begun = [
  one.decided(0, 1, { expects: [] }),
  one.sent(1, 1, 'kernel'),
  one.sent(2, 1, 'initramfs'),
] as const

/** A part of the rootfs, in MiB, as its transfer tells of it. */
function part(seconds: number, from: number, to: number): readonly BootEvent[] {
  return [
    one.progress(seconds, 1, 'rootfs', from, total),
    one.sent(seconds + 0.5, 1, 'rootfs', {
      status: 206,
      fromBytes: from * mebibyte,
      sentBytes: (to - from) * mebibyte,
      totalBytes: total * mebibyte,
    }),
  ]
}

function bootOf(...events: readonly BootEvent[]) {
  const player = createBootPlayer()
  player.play(events)
  return player.attempts()[0]
}

describe('a file that is fetched in parts', () => {
  it('is not there when its last bytes are', () => {
    const boot = bootOf(...begun, ...part(3, 999, 1000))
    expect(boot).toMatchObject({ state: 'running', phase: 'rootfs' })
    expect(boot?.transfer).toMatchObject({ role: 'rootfs', sentBytes: mebibyte, isDone: false })
    expect(boot?.steps.at(-1)?.text).toMatch(/rootfs sent, 1(?:\.0)? MiB of 1000 MiB/)
  })

  it('is there when all of them are, in any order', () => {
    const parts = [part(3, 750, 1000), part(4, 250, 500), part(5, 0, 250), part(6, 500, 750)]
    const boot = bootOf(...begun, ...parts.flat())
    expect(boot).toMatchObject({ outcome: 'served' })
    expect(boot?.transfer).toMatchObject({ sentBytes: total * mebibyte, isDone: true })
  })

  it('goes on where it broke off', () => {
    const cut = one.sent(4, 1, 'rootfs', {
      completed: false,
      sentBytes: 300 * mebibyte,
      totalBytes: total * mebibyte,
    })
    expect(bootOf(...begun, cut, ...part(5, 300, 1000))).toMatchObject({ outcome: 'served' })
  })
})

it('a file that is fetched once more is one step with a count, and done', () => {
  const twice = [3, 8].flatMap((seconds) => [
    one.progress(seconds, 1, 'rootfs', 0, 1),
    one.sent(seconds + 1, 1, 'rootfs', { sentBytes: mebibyte, totalBytes: mebibyte }),
  ])
  const boot = bootOf(...begun, ...twice)
  expect(boot?.steps.filter(({ text }) => text.includes('rootfs'))).toMatchObject([
    { type: 'artifact-sent', count: 2 },
  ])
  expect(boot?.transfer).toMatchObject({ role: 'rootfs', sentBytes: mebibyte, isDone: true })
})

it('a rootfs that somebody else fetches before any kernel went out is none of the machine', () => {
  const elsewhere = { address: '198.51.100.7' }
  const boot = bootOf(begun[0], one.sent(5, 1, 'rootfs', elsewhere))
  expect(boot).toMatchObject({ state: 'running', address: one.address })
  expect(boot?.outcome).toBeUndefined()
})

it('a boot that is given up ends when it is given up', () => {
  const player = createBootPlayer()
  player.play([one.entry(0), ...begun])
  player.waitUntil(3 * 3600)
  const [boot] = player.attempts()
  expect(boot).toMatchObject({ outcome: 'lost' })
  expect((boot?.endedAt ?? 0) - (boot?.startedAt ?? 0)).toBe((2 * 3600 + 2) * 1000)
})
