import { createMetrics } from '../../src/telemetry/create-metrics.ts'

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
  return metrics.text()
}
