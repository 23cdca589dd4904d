import { createPacketTally } from '../../src/dhcp/packet-tally.ts'
import { createTroubleTally } from '../../src/dhcp/trouble-tally.ts'
import { createMetrics } from '../../src/telemetry/create-metrics.ts'
import { createRequestTally } from '../../src/tftp/request-tally.ts'

let known: Promise<ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>> | undefined

/** Every series that a service with DHCP and TFTP tells: by name, its labels and their values. */
export function scrapedMetrics(): Promise<ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>> {
  known ??= scrape()
  return known
}

async function scrape() {
  const text = await metricsText()
  const found = new Map<string, Map<string, Set<string>>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const series = found.get(name) ?? new Map<string, Set<string>>()
    found.set(name, series)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      series.set(label, (series.get(label) ?? new Set()).add(value))
    }
  }
  return found
}

/** What a scrape gets of a service that has something of everything. */
export async function metricsText(): Promise<string> {
  const metrics = createMetrics({ version: '1.2.3', clock: { now: () => 0 } })
  metrics.setStream('fcos-stable', { lastSuccessAt: 0 })
  metrics.declareRoute('/ipxe', 'GET')
  metrics.observeParts(() => [{ part: 'state', ready: true }])
  metrics.observeAttempts(() => ({ running: 0, waiting: 0, stuck: 0, over: 0 }))
  metrics.observeEventStreams(() => 0)
  metrics.observeDhcp(() => ({
    ...createPacketTally().counts(),
    troubles: createTroubleTally().counts(),
    pools: [{ subnet: '192.0.2.0/24', size: 1, leased: 0, offered: 0, declined: 0 }],
  }))
  metrics.observeTftp(() => ({ ...createRequestTally().counts(), activeTransfers: 0 }))
  return metrics.text()
}
