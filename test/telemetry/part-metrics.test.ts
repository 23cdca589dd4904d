import { expect, test } from 'vitest'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import type { PartFigures } from '../../src/telemetry/part-metrics.ts'

async function scrape(parts: () => Promise<readonly PartFigures[]>): Promise<readonly string[]> {
  const metrics = createMetrics({ version: '1', clock: { now: () => 0 }, withProcess: false })
  metrics.observeParts(parts)
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('pilotlight_part_'))
}

test('parts that are ready, in trouble and not ready are told apart', async () => {
  const parts = [
    { part: 'boot-http', ready: true },
    { part: 'state', ready: true, reason: 'the disk is full' },
    { part: 'dhcp', ready: false, reason: 'port taken' },
  ]
  expect(await scrape(async () => parts)).toEqual([
    'pilotlight_part_ready{part="boot-http"} 1',
    'pilotlight_part_ready{part="state"} 1',
    'pilotlight_part_ready{part="dhcp"} 0',
    'pilotlight_part_troubled{part="boot-http"} 0',
    'pilotlight_part_troubled{part="state"} 1',
    'pilotlight_part_troubled{part="dhcp"} 0',
  ])
})

test('a service that cannot say is still scraped', async () => {
  expect(
    await scrape(async () => {
      throw new Error('not now')
    }),
  ).toEqual([])
})
