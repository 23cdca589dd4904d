import { createHash } from 'node:crypto'
import {
  dnsmasq,
  installed,
  iscDhcpd,
  loaderBytes,
  pilotlight,
  startOn,
  tftpdHpa,
  writeLoader,
} from './boot-servers.mjs'
import { cpuSecondsOf, ratios, spread, table } from './measure.mjs'
import { measureInTurn } from './rounds.mjs'
import { runClient } from './run-client.mjs'
import { seedService } from './seed.mjs'
import { openWires, serverAddress, wiresProblem } from './wires.mjs'

/**
 * DHCP of the built service, with its log and its metrics, against the servers of the field that are installed, each in
 * a network of its own.
 */
export async function benchDhcp({ directory, rounds, seconds, artifactBytes, report }) {
  const problem = wiresProblem()
  if (problem !== undefined) {
    console.log(`skipped: ${problem}`)
    return
  }
  const loader = writeLoader(directory)
  const ask = (question) => (server) =>
    measureOn(server, 'dhcp-client.mjs', { underWay: 0, perSecond: 0, machines: 1_000, seconds, ...question })

  await compare({
    servers: [
      pilotlight({ directory, loader, dhcp: 'proxy' }),
      dnsmasq({ directory, loader, dhcp: 'proxy' }),
    ],
    rows: [32, 256].map((underWay) => ({
      what: `proxy offers, ${underWay} under way`,
      measure: ask({ exchange: 'offer', isProxy: true, underWay }),
      target: underWay === 32 ? '>= 1.2' : '>= 2',
      against: 'dnsmasq',
    })),
    ...{ directory, rounds, report },
  })
  const server = { directory, loader, dhcp: 'server' }
  await compare({
    servers: [pilotlight(server), dnsmasq(server), iscDhcpd(server)],
    rows: [
      {
        what: 'DISCOVER to OFFER, 32 under way',
        measure: ask({ exchange: 'offer', isProxy: false, underWay: 32 }),
        target: '>= 1.1',
        against: 'dnsmasq',
      },
      {
        what: 'leases on disk before the ACK, 32 under way',
        measure: ask({ exchange: 'lease', isProxy: false, underWay: 32 }),
        target: '>= 1.3',
        against: 'ISC dhcpd',
      },
      {
        what: 'DISCOVER to OFFER at 200 a second',
        measure: ask({ exchange: 'offer', isProxy: false, perSecond: 200 }),
      },
    ],
    ...{ directory, rounds, report },
  })
  await besideArtifacts({ directory, rounds, seconds, artifactBytes, loader, report })
}

const downloads = 64

/** A rack powers on while another one takes its artifacts as fast as it can, and nobody answers upstream. */
async function besideArtifacts({ directory, rounds, seconds, artifactBytes, loader, report }) {
  const seeded = await seedService({ directory, initramfsBytes: artifactBytes })
  const { sha256, name } = seeded.artifacts.find(({ role }) => role === 'initramfs')
  const more = {
    dataDir: seeded.dataDir,
    streams: { sample: { source: { url: 'http://198.18.0.77/stream.json' }, refresh: '1h' } },
    profiles: { worker: { stream: 'sample', mode: 'live' } },
    boot: { http: { listen: '0.0.0.0:8080' } },
  }
  const net = openWires(1)
  let server
  try {
    server = await startOn(net.wires[0], pilotlight({ directory, loader, dhcp: 'server', more }), directory)
    const latencies = []
    const rates = []
    for (let round = 0; round <= rounds; round += 1) {
      const url = `http://${serverAddress}:8080/artifacts/${sha256}/${name}`
      const [taken, asked] = await Promise.all([
        runClient(server, 'download-client.mjs', [url, downloads, seconds]),
        runClient(server, 'dhcp-client.mjs', [
          JSON.stringify({
            exchange: 'offer',
            isProxy: false,
            underWay: 0,
            perSecond: 200,
            machines: 1_000,
            seconds,
          }),
        ]),
      ])
      if (taken.bytes === 0) throw new Error('no artifact was sent')
      // The first one warms up.
      if (round === 0) continue
      latencies.push(asked.p99Ms)
      rates.push(taken.bytes / taken.seconds / 1e9)
    }
    const what = `DISCOVER to OFFER at 200 a second beside ${downloads} downloads`
    console.log(`\n${what}: p99 ${spread(latencies, 1)} ms, artifacts ${spread(rates)} GB/s`)
    report.add(`${what}, p99 ms`, { value: latencies, target: '< 25', digits: 1 })
  } finally {
    await server?.stop()
    net.close()
  }
}

/** TFTP of the built service against others, a loader of 1 MiB, blocks of 1,468 bytes. */
export async function benchTftp({ directory, rounds, seconds, report }) {
  const problem = wiresProblem()
  if (problem !== undefined) {
    console.log(`skipped: ${problem}`)
    return
  }
  const loader = writeLoader(directory)
  const sha256 = createHash('sha256').update(loader.bytes).digest('hex')
  const cases = [
    { atOnce: 1, windowSize: 1, target: '>= 0.55' },
    { atOnce: 50, windowSize: 1, target: '>= 0.55' },
    // With windows the client, which is Node as well, takes longer than the server: CPU time says more.
    { atOnce: 50, windowSize: 4, target: '>= 1.3', cpuTarget: '<= 0.7' },
    { atOnce: 50, windowSize: 8, target: '>= 1.7', cpuTarget: '<= 0.7' },
    { atOnce: 50, windowSize: 16, target: '>= 2.2', cpuTarget: '<= 0.7' },
  ]
  await compare({
    servers: [pilotlight({ directory, loader }), dnsmasq({ directory, loader }), tftpdHpa({ loader })],
    rows: cases.map(({ atOnce, windowSize, target, cpuTarget }) => ({
      what: `TFTP, ${atOnce} at once, windowsize ${windowSize}`,
      measure: (server) =>
        measureOn(server, 'tftp-client.mjs', {
          address: serverAddress,
          name: loader.name,
          sha256,
          atOnce,
          windowSize,
          seconds,
        }),
      target,
      cpuTarget,
      // It knows no windows, and neither do machines that meet it.
      against: 'dnsmasq',
      unit: 'MB/s',
      amount: ({ requests }) => (requests * loaderBytes) / 1e6,
    })),
    ...{ directory, rounds, report },
  })
}

/** Starts the servers that are installed, measures them in turn, tells and reports. */
async function compare({ servers: all, rows, directory, rounds, report }) {
  const wanted = installed(all)
  const net = openWires(wanted.length)
  const servers = []
  try {
    for (const [index, server] of wanted.entries())
      servers.push(await startOn(net.wires[index], server, directory))
    for (const row of rows) await measureRow(row, { servers, rounds, report })
  } finally {
    for (const server of servers) await server.stop()
    net.close()
  }
}

async function measureRow(row, { servers, rounds, report }) {
  const {
    what,
    measure,
    target,
    cpuTarget,
    against,
    unit = 'exchanges/s',
    amount = ({ requests }) => requests,
  } = row
  const [own] = servers
  // It is compiled as it runs: what it does in its first seconds says little of the others.
  for (let times = 0; times < 2; times += 1) await measure(own)
  const results = await measureInTurn(servers, rounds, measure)
  const perSecond = (result) => amount(result) / result.seconds
  const cpuEach = (result) => (result.serverCpuSeconds / amount(result)) * 1e6
  const base = results[servers.findIndex(({ name }) => name === against)]
  const lines = servers.map(({ name }, index) => {
    const of = results[index]
    return [
      name,
      spread(of.map(perSecond), 0),
      spread(of.map(cpuEach), 1),
      spread(
        of.map(({ p99Ms }) => p99Ms),
        1,
      ),
      spread(
        of.map(({ failed }) => failed),
        0,
      ),
      base === undefined ? '-' : spread(ratios(of.map(perSecond), base.map(perSecond))),
      base === undefined ? '-' : spread(ratios(of.map(cpuEach), base.map(cpuEach))),
    ]
  })
  const each = unit === 'MB/s' ? 'CPU µs a MB' : 'CPU µs each'
  const columns = ['server', unit, each, 'p99 ms', 'failed', `against ${against ?? '-'}`, 'CPU against it']
  console.log(`\n${what}\n${table(columns, lines)}`)
  if (base === undefined) return
  for (const [figure, of, bound] of [
    [unit, perSecond, target],
    ['CPU', cpuEach, cpuTarget],
  ]) {
    if (bound === undefined) continue
    const value = ratios(results[0].map(of), base.map(of))
    report.add(`${what}, ${figure} against ${against}`, { value, target: bound })
  }
}

/** What a client prints, and the CPU time that the server took. */
async function measureOn(server, client, question) {
  const before = cpuSecondsOf(server.pid)
  const result = await runClient(server, client, [JSON.stringify(question)])
  return { ...result, serverCpuSeconds: cpuSecondsOf(server.pid) - before }
}
