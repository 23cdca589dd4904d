import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { benchHall } from './bench-hall.mjs'
import { benchReaders } from './bench-readers.mjs'
import { pilotlight, startOn, writeLoader } from './boot-servers.mjs'
import { cpuSecondsOf, ratios, spread, table } from './measure.mjs'
import { measureClient, measureInTurn } from './rounds.mjs'
import { runClient } from './run-client.mjs'
import { bootQueryOf, seedService } from './seed.mjs'
import { startService } from './service.mjs'
import { openWires, wiresProblem } from './wires.mjs'

const program = fileURLToPath(new URL('timeline-service.mjs', import.meta.url))
const switches = ['on', 'off']
/** What was noted is examined and written within this time after the last request, and counts too. */
const afterworkMs = 1_500
const askedHosts = 2_000
const target = '<= 1.03'

/** What it costs that every step of a boot is joined, kept and told; and who looks at it when a hall powers on. */
export async function benchTimeline({ directory, rounds, seconds, nodes, artifactBytes, hostCount, report }) {
  await benchHttp({ directory, rounds, seconds, artifactBytes, hostCount, report })
  await benchDhcp({ directory, rounds, seconds, report })
  await benchHall({ directory: join(directory, 'hall'), nodes, report })
  await benchReaders({ directory: join(directory, 'readers'), seconds, report })
}

async function benchHttp({ directory, rounds, seconds, artifactBytes, hostCount, report }) {
  const services = []
  try {
    for (const timeline of switches) {
      const seeded = await seedService({
        directory: join(directory, timeline),
        initramfsBytes: artifactBytes,
        hosts: hostCount,
      })
      const argv = [program, seeded.configFile, timeline]
      services.push({ seeded, ...(await startService({ ...seeded, argv })), name: timeline })
    }
    const paths = Array.from({ length: askedHosts }, (_, index) => {
      return `/ipxe?${bootQueryOf((index * 7919) % hostCount)}`
    })
    await compare({
      what: `/ipxe for ${askedHosts} hosts in turn, CPU µs each`,
      measure: (service) =>
        withAfterwork(service, () =>
          measureClient(service, 'script-client.mjs', [service.origin, 64, seconds, ...paths]),
        ),
      figure: ({ cpuSeconds, requests }) => (cpuSeconds / requests) * 1e6,
      ...{ services, rounds, report },
    })
    const urls = new Map()
    for (const service of services) urls.set(service, await fileUrlOf(service, paths))
    await compare({
      what: 'artifacts to 64 clients, CPU ms a GB',
      measure: (service) =>
        withAfterwork(service, () =>
          measureClient(service, 'download-client.mjs', [urls.get(service), 64, seconds]),
        ),
      figure: ({ cpuSeconds, bytes }) => (cpuSeconds * 1e3) / (bytes / 1e9),
      ...{ services, rounds, report },
    })
  } finally {
    for (const service of services) await service.stop()
  }
}

/** As a node asks: with the id of its boot. */
async function fileUrlOf({ origin, seeded }, [path]) {
  const script = await (await fetch(origin + path)).text()
  const bootId = /\?boot=([\w-]+)/.exec(script)[1]
  const { sha256, name } = seeded.artifacts.find(({ role }) => role === 'initramfs')
  return `${origin}/artifacts/${sha256}/${name}?boot=${bootId}`
}

async function benchDhcp({ directory, rounds, seconds, report }) {
  const problem = wiresProblem()
  if (problem !== undefined) {
    console.log(`DHCP skipped: ${problem}`)
    return
  }
  const net = openWires(switches.length)
  const services = []
  try {
    for (const [index, timeline] of switches.entries()) {
      const own = join(directory, timeline)
      const server = pilotlight({ directory: own, loader: writeLoader(own), dhcp: 'server' })
      const argv = [process.execPath, program, server.argv.at(-1), timeline]
      const isReady = (text) => /^admin http/m.test(text)
      services.push(await startOn(net.wires[index], { name: timeline, argv, isReady }, own))
    }
    const question = JSON.stringify({
      exchange: 'lease',
      isProxy: false,
      underWay: 32,
      perSecond: 0,
      machines: 1_000,
      seconds,
    })
    await compare({
      what: 'DHCP, DISCOVER to ACK of 1,000 machines, CPU µs each',
      measure: (service) => withAfterwork(service, () => runClient(service, 'dhcp-client.mjs', [question])),
      figure: ({ cpuSeconds, requests }) => (cpuSeconds / requests) * 1e6,
      ...{ services, rounds, report },
    })
  } finally {
    for (const service of services) await service.stop()
    net.close()
  }
}

async function withAfterwork({ pid }, run) {
  const before = cpuSecondsOf(pid)
  const result = await run()
  await sleep(afterworkMs)
  return { ...result, cpuSeconds: cpuSecondsOf(pid) - before }
}

async function compare({ what, services, rounds, measure, figure, report }) {
  // The services are compiled as they run.
  for (const service of services) await measure(service)
  const results = await measureInTurn(services, rounds, measure)
  const [on, off] = results.map((of) => of.map(figure))
  const rows = [on, off].map((of, index) => [`timeline ${switches[index]}`, spread(of, 1)])
  console.log(`\n${what}\n${table(['', 'CPU'], rows)}\non against off: ${spread(ratios(on, off), 3)}`)
  report.add(`${what}, timeline on against off`, { value: ratios(on, off), target, digits: 3 })
}
