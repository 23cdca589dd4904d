import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BootPhase, bootPhases } from '../../../src/core/boot-attempt.ts'
import type { PxeMachine } from '../../fakes/pxe-machine.ts'
import { servedRelease, startTimedService, type TimedService } from '../../fakes/timed-service.ts'
import { startSystem } from './after-the-script.ts'
import { createScenarioLab, minutes, seconds, startKernel } from './scenario.ts'

const hosts = [{ id: 'reporter', macs: ['52:54:00:0b:00:01'], profile: 'reports' }]
let service: TimedService
beforeAll(async () => {
  service = await startTimedService({ dhcp: { mode: 'proxy' }, hosts })
})
afterAll(() => service?.stop())

function machineOf(number: number): PxeMachine {
  return service.wire.machine({ mac: `52:54:00:0b:00:0${number}`, address: `127.0.2.${number}` })
}

/** Its phases one after the other, none begun before the one before it had ended. */
function expectInOrder(phases: readonly { phase: BootPhase; startedAt: string; endedAt?: string }[]): void {
  const places = phases.map(({ phase }) => bootPhases.indexOf(phase))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  for (const [index, { startedAt }] of phases.entries()) {
    if (index > 0) expect(phases[index - 1]?.endedAt).toBe(startedAt)
  }
}

describe('a boot that goes as it should', () => {
  it('shows every phase in order, its outcome, and nothing wrong, though hours pass after it', async () => {
    const machine = machineOf(1)
    const lab = createScenarioLab(service, machine)
    const reportUrl = await startSystem(machine, lab)
    await lab.pass(40 * seconds)
    await machine.post(reportUrl, { status: 'booted', osVersion: servedRelease })
    const over = await service.boot(machine.mac, ({ outcome }) => outcome !== undefined)
    expect(over).toMatchObject({
      host: 'reporter',
      state: 'over',
      outcome: 'booted',
      release: servedRelease,
      osVersion: servedRelease,
    })
    expect(over.phases.map(({ phase }) => phase)).toEqual([...bootPhases])
    expectInOrder(over.phases)
    await lab.pass(5 * 60 * minutes)
    const later = await service.boot(over.id)
    expect(later).toEqual(over)
    expect(later.diagnosis).toBeUndefined()
    expect(later.steps.map(({ type }) => type)).not.toContain('diagnosed')
  })

  it('is over when it has its files, where nothing of it reports', async () => {
    const machine = machineOf(2)
    const lab = createScenarioLab(service, machine)
    const { rootfs } = await startKernel(machine, lab)
    await machine.get(rootfs)
    const over = await service.boot(machine.mac, ({ outcome }) => outcome !== undefined)
    expect(over).toMatchObject({ state: 'over', outcome: 'served' })
    expect(over.diagnosis).toBeUndefined()
    await lab.pass(60 * minutes)
    expect(await service.boot(over.id)).toMatchObject({ state: 'over', outcome: 'served' })
  })

  it('writes no warning, and no pattern has a machine', async () => {
    expect(service.warnings()).toEqual([])
    expect((await service.patterns()).filter(({ count }) => count > 0)).toEqual([])
  })
})
