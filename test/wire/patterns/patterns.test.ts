import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BootPatternCode, bootPatternCodes } from '../../../src/core/boot-pattern.ts'
import { startTimedService, type TimedService } from '../../fakes/timed-service.ts'
import { afterTheScript } from './after-the-script.ts'
import { beforeTheScript } from './before-the-script.ts'
import { createScenarioLab, type Scenario } from './scenario.ts'

/**
 * Every known pattern, produced on purpose: real packets and bytes against the built service, and time that the test
 * lets pass. A code without a scenario does not compile.
 */
const scenarios: Readonly<Record<BootPatternCode, readonly Scenario[]>> = {
  ...beforeTheScript,
  ...afterTheScript,
}
const numbered = bootPatternCodes
  .flatMap((code) => scenarios[code].map((scenario) => ({ code, scenario })))
  .map(({ code, scenario }, index) => {
    const number = index + 10
    return { code, scenario, mac: `52:54:00:0a:00:${number}`, address: `127.0.1.${number}`, id: `n${number}` }
  })
const hosts = numbered.flatMap(({ scenario: { profile }, mac, id }) =>
  profile === undefined ? [] : [{ id, macs: [mac], profile }],
)

const wires = {
  site: { mode: 'proxy' },
  ours: { mode: 'server', subnets: [{ subnet: '127.0.0.0/8', ranges: ['127.0.9.10-127.0.9.99'] }] },
} as const

describe.each(['site', 'ours'] as const)('patterns of boots where addresses are from: %s', (addresses) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService({ dhcp: wires[addresses], hosts })
  })
  afterAll(() => service?.stop())

  const here = numbered.filter(({ scenario }) => (scenario.addresses ?? 'site') === addresses)

  it.each(here.map((one) => [one.code, one.scenario.situation, one] as const))(
    '%s: %s',
    async (code, _, one) => {
      const { scenario, mac, address } = one
      const { architecture, bootClass } = scenario
      const machine = service.wire.machine({
        mac,
        address,
        ...(architecture && { architecture }),
        ...(bootClass && { bootClass }),
      })
      await scenario.act(machine, createScenarioLab(service, machine))

      const { id } = await service.boot(mac, ({ diagnosis }) => diagnosis?.code === code)
      const { diagnosis, steps } = await service.boot(id)
      const patterns = await service.patterns()
      const row = patterns.find((pattern) => pattern.code === code)
      expect(diagnosis).toMatchObject({ code, text: expect.stringMatching(scenario.text) })
      expect(diagnosis?.remedy).toEqual(
        scenario.remedy === undefined ? row?.remedy : expect.stringMatching(scenario.remedy),
      )
      expect(steps.map(({ type }) => type)).toContain('diagnosed')
    },
  )
})
