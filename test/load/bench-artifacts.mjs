import { median, ratios, rssBytesOf, spread, table, watchRss } from './measure.mjs'
import { measureClient, measureInTurn } from './rounds.mjs'

const slowBytesPerSecond = 4_000_000
const mebibyte = 2 ** 20

/** Artifacts over HTTP: ours, nginx, Go and Node's pipe with the same file and the same client, in turn. */
export async function benchArtifacts({ service, peers, rounds, seconds, report }) {
  const servers = [service, ...peers]
  const nginx = peers.find(({ name }) => name === 'nginx') ?? peers[0]
  // Uncounted: caches are filled, and what is compiled as it runs is compiled.
  for (const server of servers)
    await measureClient(server, 'download-client.mjs', [fileUrl(server), 64, seconds])

  for (const clients of [1, 16, 64]) {
    const results = await measureInTurn(servers, rounds, (server) =>
      measureClient(server, 'download-client.mjs', [fileUrl(server), clients, seconds]),
    )
    tell(`${clients} client${clients === 1 ? '' : 's'} as fast as they can`, servers, results)
    const [own, peer] = [results[0], results[servers.indexOf(nginx)]]
    report.add(`artifacts, ${clients} clients, GB/s against ${nginx.name}`, {
      value: ratios(own.map(gigabytesPerSecond), peer.map(gigabytesPerSecond)),
      target: '>= 1.0',
    })
    // The client copies every byte out of the system, as a node does.
    report.add(`artifacts, ${clients} clients, server CPU a GB against ${nginx.name}`, {
      value: ratios(own.map(cpuPerGigabyte), peer.map(cpuPerGigabyte)),
      target: '<= 2.5',
    })
  }

  const slowRounds = Math.max(1, Math.ceil(rounds / 2))
  // Long enough that the buffers of all those sockets, 10 MB each, are not what is measured.
  const slow = await measureInTurn(servers, slowRounds, (server) =>
    measureClient(server, 'download-client.mjs', [fileUrl(server), 64, seconds * 5, slowBytesPerSecond]),
  )
  tell('64 clients that read 4 MB/s each', servers, slow)
  report.add(`artifacts, 64 slow clients, server CPU a GB against ${nginx.name}`, {
    value: ratios(slow[0].map(cpuPerGigabyte), slow[servers.indexOf(nginx)].map(cpuPerGigabyte)),
    target: '<= 2.5',
  })

  await benchLoopDelay({ service, rounds, seconds, report })
  await benchMemory({ service, seconds, report })
}

/** What a DISCOVER or a script would wait for while artifacts leave at full speed. */
async function benchLoopDelay({ service, rounds, seconds, report }) {
  const delays = []
  for (let round = 0; round < rounds; round += 1) {
    await service.startLoopDelay()
    await measureClient(service, 'download-client.mjs', [fileUrl(service), 64, seconds])
    delays.push(await service.stopLoopDelay())
  }
  const of = (key) =>
    spread(
      delays.map((delay) => delay[key]),
      1,
    )
  console.log(
    `\nevent-loop delay meanwhile, ms: median ${of('medianMs')}, p99 ${of('p99Ms')}, longest ${of('longestMs')}`,
  )
  report.add('event-loop delay p99 with 64 clients, ms', {
    value: delays.map(({ p99Ms }) => p99Ms),
    target: '<= 15',
    digits: 1,
  })
}

/** What comes on top while they read belongs to the clients. */
async function benchMemory({ service, seconds, report }) {
  const clients = 256
  const before = rssBytesOf(service.pid)
  const rss = watchRss(service.pid)
  await measureClient(service, 'download-client.mjs', [
    fileUrl(service),
    clients,
    seconds * 2,
    slowBytesPerSecond / 4,
  ])
  const peak = rss.stop()
  const perClient = (peak - before) / clients / mebibyte
  console.log(`\n${clients} slow clients: RSS ${inMebibytes(before)} before, ${inMebibytes(peak)} at most`)
  report.add('memory for each slow client, MiB', { value: [Math.max(0, perClient)], target: '< 2' })
  report.add('memory in all with 10,000 hosts, 256 slow clients, MB', {
    value: [peak / 1e6],
    target: '<= 120',
    digits: 0,
  })
}

function tell(title, servers, results) {
  const rows = servers.map((server, index) => {
    const rounds = results[index]
    const first = results[0]
    return [
      server.name,
      spread(rounds.map(gigabytesPerSecond)),
      spread(rounds.map(cpuPerGigabyte), 3),
      median(rounds.map(({ firstByteP50Ms }) => firstByteP50Ms)).toFixed(1),
      median(rounds.map(({ firstByteP99Ms }) => firstByteP99Ms)).toFixed(1),
      inMebibytes(rssBytesOf(server.pid)),
      index === 0 ? '1' : spread(ratios(first.map(gigabytesPerSecond), rounds.map(gigabytesPerSecond))),
      index === 0 ? '1' : spread(ratios(first.map(cpuPerGigabyte), rounds.map(cpuPerGigabyte))),
    ]
  })
  const columns = [
    'server',
    'GB/s',
    'CPU-s/GB',
    'first byte ms',
    'p99',
    'RSS',
    'ours/its GB/s',
    'ours/its CPU',
  ]
  console.log(`\n${title}\n${table(columns, rows)}`)
}

function fileUrl({ origin, filePath }) {
  return origin + filePath
}

function gigabytesPerSecond({ bytes, seconds }) {
  return bytes / seconds / 1e9
}

function cpuPerGigabyte({ bytes, serverCpuSeconds }) {
  return serverCpuSeconds / (bytes / 1e9)
}

function inMebibytes(bytes) {
  return bytes === undefined ? '-' : `${Math.round(bytes / mebibyte)} MiB`
}
