import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BootDetail } from '../../../src/http/admin/schemas/boots.ts'
import type { PxeMachine } from '../../fakes/pxe-machine.ts'
import { eventually } from '../../fakes/service-process.ts'
import { servedRelease, startTimedService, type TimedService } from '../../fakes/timed-service.ts'
import { reportUrlIn } from './after-the-script.ts'
import { createScenarioLab, minutes, seconds, startKernel, startLoader } from './scenario.ts'

const hours = 60 * minutes
const days = 24 * hours
/** One for each test; the service is the same, and its clock is set right again in between. */
const macs = ['52:54:00:0c:00:01', '52:54:00:0c:00:02', '52:54:00:0c:00:03'] as const
const hosts = macs.map((mac, index) => ({ id: `reporter${index}`, macs: [mac], profile: 'reports' }))
let service: TimedService

function machineOf(mac: (typeof macs)[number]): PxeMachine {
  return service.wire.machine({ mac, address: `127.0.3.${macs.indexOf(mac) + 1}` })
}

/** Nothing lasted less than no time, and nothing lies in a time that never was. */
function expectSoundTimes(boot: BootDetail): void {
  const spans = [boot.durationMs, ...boot.phases.map(({ durationMs }) => durationMs)]
  const offsets = boot.steps.flatMap(({ offsetMs, at, lastAt }) => [
    offsetMs,
    Date.parse(lastAt) - Date.parse(at),
  ])
  expect(Math.min(...spans, ...offsets)).toBeGreaterThanOrEqual(0)
  for (const [index, { startedAt, endedAt = startedAt }] of boot.phases.entries()) {
    expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(startedAt))
    const before = boot.phases[index - 1]?.startedAt ?? startedAt
    expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(Date.parse(before))
  }
}

/** Seconds that a metric may not have less than none of. */
async function expectSoundMetrics(): Promise<void> {
  const lines = (await service.metrics()).split('\n')
  expect(lines.filter((line) => /^pilotlight_\S+ -/.test(line))).toEqual([])
}

/** Forward more than a boot lasts, back more than the service runs, to a clock without battery, to beyond 2038. */
const jumps: readonly (readonly [what: string, ms: number])[] = [
  ['ten minutes back', -10 * minutes],
  ['two days back', -2 * days],
  ['to 1976', -50 * 365 * days],
  ['ten minutes ahead', 10 * minutes],
  ['five hours ahead', 5 * hours],
  ['twenty years ahead', 20 * 365 * days],
]

describe.each(jumps)('the clock is set %s', (_, ms) => {
  beforeAll(async () => {
    service = await startTimedService({ dhcp: { mode: 'proxy' }, hosts })
  })
  afterEach(async () => {
    await service.jump(-ms)
    await service.pass(2 * seconds)
  })
  afterAll(() => service?.stop())

  it('while a machine fetches its kernel: the boot goes on and nothing is wrong with it', async () => {
    const mac = macs[0]
    const machine = machineOf(mac)
    const lab = createScenarioLab(service, machine)
    await startLoader(machine, lab)
    const before = await service.boot(mac)
    await service.jump(ms)
    const script = await machine.fetchScript()
    await machine.get(script.kernel)
    await machine.get(script.initramfs)
    await lab.pass(2 * seconds)
    await machine.head(script.rootfs)
    await machine.get(script.rootfs)
    await lab.pass(2 * seconds)
    const reportUrl = reportUrlIn((await machine.get(script.ignition)).toString())
    await lab.pass(20 * seconds)
    await machine.post(reportUrl, { status: 'booted', osVersion: servedRelease })
    const boot = await service.boot(mac, ({ outcome }) => outcome !== undefined)
    expectSoundTimes(boot)
    expect(boot).toMatchObject({ state: 'over', outcome: 'booted' })
    expect(boot.diagnosis).toBeUndefined()
    // After hours of silence it counts as another one.
    if (ms < 10 * minutes) expect(boot.id).toBe(before.id)
    for (const { durationMs } of await service.boots()) expect(durationMs).toBeGreaterThanOrEqual(0)
    await expectSoundMetrics()
    expect(service.warnings()).toEqual([])
  })

  it('a machine that waits is not given up for it, and is recognised when it has been silent for long enough', async () => {
    const mac = macs[1]
    const machine = machineOf(mac)
    const lab = createScenarioLab(service, machine)
    await startKernel(machine, lab)
    await service.jump(ms)
    await lab.pass(2 * minutes)
    const running = await service.boot(mac)
    expectSoundTimes(running)
    expect(running).toMatchObject({ state: 'running' })
    expect(running.diagnosis).toBeUndefined()
    await lab.pass(5 * minutes)
    const stuck = await service.boot(mac, ({ state }) => state === 'stuck')
    expectSoundTimes(stuck)
    expect(stuck.diagnosis?.code).toBe('silent-after-kernel')
    await expectSoundMetrics()
  })

  it('the next boot is one of its own, and is listed as the newest', async () => {
    const mac = macs[2]
    const machine = machineOf(mac)
    const lab = createScenarioLab(service, machine)
    const { rootfs, ignition } = await startKernel(machine, lab)
    await machine.get(rootfs)
    const reportUrl = reportUrlIn((await machine.get(ignition)).toString())
    await machine.post(reportUrl, { status: 'booted', osVersion: servedRelease })
    const first = await service.boot(mac, ({ outcome }) => outcome !== undefined)
    await service.jump(ms)
    await lab.pass(30 * seconds)
    await startLoader(machine, lab)
    const second = await service.boot(mac, ({ id }) => id !== first.id)
    expect(second).toMatchObject({ state: 'running', phase: 'loader' })
    expectSoundTimes(second)
    expectSoundTimes(await service.boot(first.id))
    // Of what lies before the time that boots are kept, memory alone knows.
    const listed = ms > 90 * days ? [second.id] : [first.id, second.id].sort()
    await eventually(
      async () =>
        (await service.boots())
          .filter((boot) => boot.mac === mac)
          .map(({ id }) => id)
          .sort(),
      (ids) => ids.join() === listed.join(),
      5_000,
    )
  })
})
