import { describe, expect, it } from 'vitest'
import { bootPhases } from '../../../src/core/boot-attempt.ts'
import { defaultLimits, learnLimits } from '../../../src/core/boot-attempts/phase-limits.ts'
import { createBootPlayer } from '../../fakes/boot-player.ts'
import { goodBoot, stepsOfMachine } from '../../fakes/boot-steps.ts'

const minute = 60_000

describe('how long a boot may be silent', () => {
  it('is what is normal, for a machine that nobody has seen boot', () => {
    expect(learnLimits([])).toEqual(defaultLimits)
  })

  it('grows after one slow boot', () => {
    expect(learnLimits([{ system: 10 * minute }]).system).toBe(30.5 * minute)
  })

  it('does not shrink after one or two fast boots', () => {
    expect(learnLimits([{ system: minute }, { system: minute }]).system).toBe(defaultLimits.system)
  })

  it('shrinks after three, to a third at most', () => {
    expect(learnLimits(Array(3).fill({ system: 2 * minute })).system).toBe(6.5 * minute)
    expect(learnLimits(Array(3).fill({ system: 10 })).system).toBe(defaultLimits.system / 3)
  })

  it('is never longer than four hours', () => {
    expect(learnLimits([{ rootfs: 24 * 60 * minute }]).rootfs).toBe(240 * minute)
  })

  it('stays as it is for phases that it did not go through', () => {
    const { system, ...others } = learnLimits([{ system: 10 * minute }])
    const { system: normal, ...defaults } = defaultLimits
    expect(system).not.toBe(normal)
    expect(others).toEqual(defaults)
    expect(Object.keys(defaultLimits)).toEqual(bootPhases)
  })

  const one = stepsOfMachine({ number: 1, host: 'n01' })
  const slow = (start: number, id: number) => [
    ...goodBoot(one, start, id).slice(0, 20),
    one.report(start + 33 + 14 * 60, id),
  ]

  it('a host that always takes long is not stuck when it does', () => {
    const player = createBootPlayer()
    player.play([...slow(0, 1), ...goodBoot(one, 2000, 2).slice(0, 20)])
    player.waitUntil(2000 + 33 + 20 * 60)
    expect(player.diagnoses).toEqual([])
    player.waitUntil(2000 + 33 + 50 * 60)
    expect(player.diagnoses).toMatchObject([{ code: 'no-report' }])
  })

  it('a host that is always fast is stuck sooner', () => {
    const player = createBootPlayer()
    for (let boot = 0; boot < 3; boot += 1) player.play(goodBoot(one, boot * 100, boot + 1))
    player.play(goodBoot(one, 1000, 9).slice(0, 20))
    player.waitUntil(1033 + 5 * 60 + 2)
    expect(player.diagnoses).toMatchObject([{ code: 'no-report' }])
  })

  it('boots that went wrong teach nothing', () => {
    const player = createBootPlayer()
    player.play(goodBoot(one, 0, 1).slice(0, 20))
    player.play([one.report(40 * 60, 1, { status: 'failed' }), ...goodBoot(one, 3000, 2).slice(0, 20)])
    player.waitUntil(3033 + 15 * 60 + 2)
    expect(player.attempts().at(-1)?.diagnosis?.code).toBe('no-report')
  })
})
