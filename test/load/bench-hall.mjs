import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { askControl } from './control.mjs'
import { cpuSecondsOf, rssBytesOf, table, watchRss } from './measure.mjs'
import { measureClient } from './rounds.mjs'
import { seedService } from './seed.mjs'
import { startService } from './service.mjs'

const mebibyte = 2 ** 20
/** After the last file: the last step has been told. */
const settledMs = 2_000
const shownKeys = 100

/**
 * A hall powers on while an admin looks at it: how long it takes from a step to somebody who follows the events, and to
 * the page that asks for the rows that moved.
 */
export async function benchHall({ directory, nodes, report }) {
  mkdirSync(directory, { recursive: true })
  const hosts = Math.max(5_000, nodes)
  const seeded = await seedService({ directory, hosts })
  const service = await startService(seeded)
  const socketPath = join(seeded.dataDir, 'control.sock')
  try {
    const { secret } = await askControl(socketPath, '/api/v1/tokens', {
      method: 'POST',
      body: { name: 'hall', role: 'read' },
    })
    const rssBefore = rssBytesOf(service.pid)
    const cpuBefore = cpuSecondsOf(service.pid)
    const rss = watchRss(service.pid)
    const reader = await startReader({ socketPath, adminUrl: service.adminUrl, secret, shownKeys })
    const client = await measureClient(service, 'hall-client.mjs', [service.origin, nodes])
    await sleep(settledMs)
    const { arrivals, rows, views, viewBytes } = await reader.stop()
    const delays = await delaysOf({ arrivals, socketPath, boots: client.bootIds })
    const peak = rss.stop()
    tell({ nodes, hosts, client, delays, rows, views, viewBytes })
    console.log(
      `CPU ${(cpuSecondsOf(service.pid) - cpuBefore).toFixed(1)} s, with page and reader; RSS ${mib(rssBefore)} before, ${mib(peak)} at most, ${mib(rssBytesOf(service.pid))} after`,
    )
    const stepToPage = quantile(delays, 0.99) + quantile(rows, 0.99)
    report.add(`${nodes} nodes at once, step to event, p99 ms`, {
      value: [quantile(delays, 0.99)],
      target: '< 1000',
      digits: 0,
    })
    report.add(`${nodes} nodes at once, step to event and rows of the page, p99 ms`, {
      value: [stepToPage],
      target: '< 1000',
      digits: 0,
    })
    report.add('page of 100 rows, KB', { value: [viewBytes / 1e3], target: '< 400', digits: 0 })
    report.add(`${nodes} nodes at once, memory on top, MiB`, {
      value: [(peak - rssBefore) / mebibyte],
      target: '< 150',
      digits: 0,
    })
    if (client.failed > 0) process.exitCode = 1
  } finally {
    await service.stop()
  }
}

/** A thread of its own, so that what it is told does not wait behind the nodes. */
async function startReader(workerData) {
  const worker = new Worker(new URL('hall-reader.mjs', import.meta.url), { workerData })
  const next = () => new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  await next()
  return {
    async stop() {
      const told = next()
      worker.postMessage('stop')
      const result = await told
      await worker.terminate()
      return result
    },
  }
}

/**
 * For each step, by the service's own clock, when somebody was told of its boot as it was from then on. A step that was
 * never told counts as endless.
 */
async function delaysOf({ arrivals, socketPath, boots }) {
  const byBoot = new Map(boots.map((bootId) => [bootId, []]))
  for (const arrival of arrivals) byBoot.get(arrival.bootId)?.push(arrival)
  const delays = []
  for (const bootId of boots) {
    const { steps } = await askControl(socketPath, `/api/v1/boots/${bootId}`)
    const told = byBoot.get(bootId)
    for (const { at } of steps) {
      const time = Date.parse(at)
      const arrival = told.find(({ lastAt }) => lastAt >= time)
      delays.push(arrival === undefined ? Number.POSITIVE_INFINITY : Math.max(0, arrival.at - time))
    }
  }
  return delays
}

function tell({ nodes, hosts, client, delays, rows, views, viewBytes }) {
  const untold = delays.filter((delay) => !Number.isFinite(delay)).length
  const line = (what, of) => [what, of.length, ...[0.5, 0.99, 1].map((part) => quantile(of, part).toFixed(0))]
  console.log(`
${nodes} of ${hosts} hosts boot at once: script, kernel, initramfs, rootfs in ${client.seconds.toFixed(1)} s; nodes that failed: ${client.failed}
${table(
  ['ms', 'times', 'median', 'p99', 'longest'],
  [
    line('from a step to the event', delays),
    line(`/rows for ${shownKeys} rows that moved`, rows),
    line('the whole page', views),
  ],
)}
steps never told: ${untold}; the page weighs ${(viewBytes / 1e3).toFixed(0)} KB`)
}

function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN
}

function mib(bytes) {
  return `${Math.round(bytes / mebibyte)} MiB`
}
