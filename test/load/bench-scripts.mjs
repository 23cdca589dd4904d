import { ratios, spread, table } from './measure.mjs'
import { measureClient, measureInTurn } from './rounds.mjs'

/**
 * `/ipxe` for hosts of a configuration with 10,000 of them, against peers that send the same bytes to everybody:
 * one host that asks again and again, and many in turn.
 */
export async function benchScripts({ service, peers, rounds, seconds, report }) {
  const servers = [
    { ...service, name: 'pilotlight, one host', textPaths: service.textPaths.slice(0, 1) },
    { ...service, name: 'pilotlight, many hosts', textPaths: service.textPaths },
    ...peers,
  ]
  // The service is compiled as it runs: what it does in its first second says little of the others.
  for (const server of servers) await ask(server, 64, server.pid === service.pid ? 2 : 1)

  const baseline =
    peers.find(({ name }) => name.startsWith('go')) ?? peers.find(({ name }) => name === 'node:http')
  for (const connections of [16, 64]) {
    const results = await measureInTurn(servers, rounds, (server) => ask(server, connections, seconds))
    const base = results[servers.indexOf(baseline)]
    const rows = servers.map(({ name }, index) => {
      const own = results[index]
      return [
        name,
        spread(own.map(perSecond), 0),
        spread(own.map(cpuMicroseconds), 1),
        spread(
          own.map(({ p99Ms }) => p99Ms),
          1,
        ),
        spread(ratios(own.map(perSecond), base.map(perSecond))),
        spread(ratios(own.map(cpuMicroseconds), base.map(cpuMicroseconds))),
      ]
    })
    const columns = [
      'server',
      'requests/s',
      'CPU µs each',
      'p99 ms',
      `against ${baseline.name}`,
      'CPU against it',
    ]
    console.log(`\n${connections} connections\n${table(columns, rows)}`)
    report.add(`/ipxe for one of 10,000 hosts, ${connections} clients, requests/s against ${baseline.name}`, {
      value: ratios(results[0].map(perSecond), base.map(perSecond)),
      target: '>= 0.7',
    })
  }
}

function ask(server, connections, seconds) {
  return measureClient(server, 'script-client.mjs', [
    server.origin,
    connections,
    seconds,
    ...server.textPaths,
  ])
}

function perSecond({ requests, seconds }) {
  return requests / seconds
}

function cpuMicroseconds({ requests, serverCpuSeconds }) {
  return (serverCpuSeconds / requests) * 1e6
}
