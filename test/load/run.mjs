import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchArtifacts } from './bench-artifacts.mjs'
import { benchDhcp, benchTftp } from './bench-boot-network.mjs'
import { benchDecide } from './bench-decide.mjs'
import { benchFleet } from './bench-fleet.mjs'
import { benchMemory } from './bench-memory.mjs'
import { benchPowerOn } from './bench-power-on.mjs'
import { benchScripts } from './bench-scripts.mjs'
import { benchStart } from './bench-start.mjs'
import { benchTimeline } from './bench-timeline.mjs'
import { benchFetch } from './fetch-bench.mjs'
import { startPeers } from './peers.mjs'
import { createReport } from './report.mjs'
import { bootQueryOf, seedService } from './seed.mjs'
import { startService } from './service.mjs'

/**
 * `npm run bench`: the built program against real peers, round by round, as a table of ratios. No speed is asserted: a
 * busy machine is not a defect. A node that ends without its bytes is one, and the exit code 1. Sections can be named:
 * `npm run bench -- --quick artifacts start`.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
})
const plan = options.quick
  ? {
      rounds: 2,
      seconds: 0.6,
      artifactBytes: 30_000_000,
      fetchBytes: 300 * 2 ** 20,
      growthBytes: 2 ** 28,
      nodes: 100,
      pairs: 3,
    }
  : {
      rounds: 5,
      seconds: 1.5,
      artifactBytes: 90_000_000,
      fetchBytes: 800 * 2 ** 20,
      growthBytes: 2 ** 30,
      nodes: 1_000,
      // A few per cent are looked for, which a few rounds do not show.
      pairs: 10,
    }
const hostCount = 10_000
const askedHosts = 1_000

const report = createReport()
const sections = {
  artifacts: (directory) =>
    withServers(directory, (servers) => benchArtifacts({ ...servers, ...plan, report })),
  scripts: (directory) => withServers(directory, (servers) => benchScripts({ ...servers, ...plan, report })),
  fetch: fetchSection,
  memory: (directory) => benchMemory({ directory, sizeBytes: plan.growthBytes, report }),
  start: (directory) => benchStart({ directory, rounds: plan.rounds, report }),
  decide: async () => {
    benchDecide({ rounds: plan.rounds, report })
    benchFleet({ rounds: plan.rounds, report })
  },
  dhcp: (directory) => benchDhcp({ directory, ...plan, report }),
  tftp: (directory) => benchTftp({ directory, ...plan, report }),
  timeline: (directory) => benchTimeline({ directory, ...plan, rounds: plan.pairs, hostCount, report }),
  'power-on': (directory) => benchPowerOn({ directory, nodes: plan.nodes, report }),
}

const startedAt = performance.now()
const root = mkdtempSync(join(tmpdir(), 'pilotlight-bench-'))
console.log(
  `Node ${process.version}, ${availableParallelism()} cores, load ${loadAverage()}; medians [least-most]`,
)
try {
  for (const [name, run] of Object.entries(sections)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    console.log(`\n== ${name}`)
    const directory = join(root, name)
    mkdirSync(directory)
    await run(directory)
    rmSync(directory, { recursive: true, force: true })
  }
} finally {
  rmSync(root, { recursive: true, force: true })
}
const minutes = (performance.now() - startedAt) / 60_000
console.log(`\n== targets, after ${minutes.toFixed(1)} minutes, load ${loadAverage()}\n${report.text()}`)
process.exit()

/** The service with a large file and 10,000 hosts, and peers with the same file and the same script. */
async function withServers(directory, measure) {
  const seeded = await seedService({ directory, initramfsBytes: plan.artifactBytes, hosts: hostCount })
  const service = await startService({ ...seeded, withLoopMonitor: true })
  let peers = []
  try {
    const textPaths = Array.from({ length: askedHosts }, (_, index) => {
      return `/ipxe?${bootQueryOf((index * 7919) % hostCount)}`
    })
    const script = await (await fetch(service.origin + textPaths[0])).text()
    const { sha256, name } = seeded.artifacts.find(({ role }) => role === 'initramfs')
    // As a node asks: with the id of its boot, so that its lease is renewed.
    const bootId = /\?boot=([\w-]+)/.exec(script)[1]
    const filePath = `/artifacts/${sha256}/${name}?boot=${bootId}`
    peers = await startPeers({ directory, file: seeded.blobPath(sha256), text: script })
    await measure({ service: { ...service, filePath, textPaths }, peers })
  } finally {
    for (const server of [service, ...peers]) await server.stop()
  }
}

async function fetchSection() {
  const rows = await benchFetch({
    rounds: plan.rounds,
    sizeBytes: plan.fetchBytes,
    print: (line) => console.log(line),
  })
  for (const { name, value, target } of rows) report.add(name, { value: [value], target })
}

function loadAverage() {
  return loadavg()[0].toFixed(1)
}
