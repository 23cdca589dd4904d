import { createHash } from 'node:crypto'
import { pilotlight, startOn, writeLoader } from './boot-servers.mjs'
import { cpuSecondsOf, median, table, watchRss } from './measure.mjs'
import { runClient } from './run-client.mjs'
import { seedService } from './seed.mjs'
import { openRange, openWires, wiresProblem } from './wires.mjs'

/**
 * As large as those of Fedora CoreOS. The service has them once, and nodes drop what they have hashed: 1,000 of them are
 * 105 GB on the wire and nothing in memory.
 */
const kernelBytes = 15_000_000
const initramfsBytes = 90_000_000
/** Nodes with their script wait for their turn: megabytes of socket memory go with each that reads. */
const readersAtOnce = 64
/** Enough for 1,000 nodes at 200 MB a second, which a busy machine still reads and hashes. */
const withinMs = 10 * 60_000

/** A rack gets power, all of it at once; every node must end with the right loader, kernel and initramfs. */
export async function benchPowerOn({ directory, nodes, report }) {
  const problem = wiresProblem()
  if (problem !== undefined) {
    console.log(`skipped: ${problem}`)
    return
  }
  const loader = writeLoader(directory)
  const seeded = await seedService({ directory, kernelBytes, initramfsBytes })
  const more = {
    dataDir: seeded.dataDir,
    streams: {
      sample: { source: { file: seeded.documentFile }, architectures: ['x86_64'], refresh: '1h' },
    },
    profiles: { worker: { stream: 'sample', mode: 'live' } },
    boot: { http: { listen: '0.0.0.0:8080' } },
  }
  const net = openWires(1)
  const [wire] = net.wires
  let server
  try {
    openRange(wire)
    server = await startOn(wire, pilotlight({ directory, loader, dhcp: 'server', more }), directory)
    const cpuBefore = cpuSecondsOf(server.pid)
    const rss = watchRss(server.pid)
    const question = {
      nodes,
      loaderSha256: createHash('sha256').update(loader.bytes).digest('hex'),
      files: Object.fromEntries(seeded.artifacts.map(({ role, sha256 }) => [role, sha256])),
      readersAtOnce,
    }
    const result = await runClient(server, 'rack-client.mjs', [JSON.stringify(question)], withinMs)
    tell({
      ...result,
      nodes,
      report,
      cpuSeconds: cpuSecondsOf(server.pid) - cpuBefore,
      rssMib: rss.stop() / 2 ** 20,
    })
  } finally {
    await server?.stop()
    net.close()
  }
}

const stages = {
  address: 'address',
  loader: 'loader, by TFTP',
  script: 'script',
  files: 'kernel and initramfs',
}

function tell(result) {
  const { nodes, reachedMs, seconds, bytes, problems, dhcpRepeats, tftpRepeats, cpuSeconds, rssMib, report } =
    result
  const failed = Object.values(problems).reduce((sum, count) => sum + count, 0)
  const text = (ms) => (Number.isFinite(ms) ? (ms / 1000).toFixed(2) : '-')
  const rows = Object.entries(stages).map(([stage, what]) => {
    const times = reachedMs[stage].toSorted((a, b) => a - b)
    return [what, times.length, text(times[0]), text(median(times)), text(times.at(-1))]
  })
  console.log(`
${nodes} nodes at once; loader 1 MiB, kernel ${kernelBytes / 1e6} MB, initramfs ${initramfsBytes / 1e6} MB, ${readersAtOnce} reading at once
${table(['seconds to', 'nodes', 'first', 'median', 'last'], rows)}
${(bytes / 1e9).toFixed(1)} GB of files in ${seconds.toFixed(1)} s; the service took ${cpuSeconds.toFixed(1)} s of CPU, RSS ${Math.round(rssMib)} MiB at most
asked again: DHCP ${dhcpRepeats}, TFTP ${tftpRepeats}; nodes that failed: ${failed}`)
  for (const [problem, count] of Object.entries(problems)) console.log(`${count} failed by: ${problem}`)
  report.add(`power-on of ${nodes} nodes, failed`, { value: [failed], target: '<= 0', digits: 0 })
  // Slow is no defect, wrong or missing bytes are.
  if (failed > 0) process.exitCode = 1
}
