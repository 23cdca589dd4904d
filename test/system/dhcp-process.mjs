// A DHCP server in a process of its own, for tests that need it in another network namespace and for benchmarks.
// usage: node dhcp-process.mjs DIST '{"interfaces":["eth0"],"mode":"proxy",…}'; prints one JSON line per event.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [dist, json] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(resolve(dist, path)).href)
const { createDhcpServer } = await load('dhcp/server.js')
const { createLeaseLog } = await load('dhcp/leases/lease-log.js')
const { dhcpSocketsByInterface, readInheritedSockets } = await load('dhcp/inherited-sockets.js')
const { defaultLoaderFiles } = await load('dhcp/loader-ladder.js')
const { parseIpv4, parseIpv4Subnet } = await load('core/ipv4.js')
const { silentLog } = await load('core/log.js')

const options = JSON.parse(json)
const addresses = (texts = []) => texts.map(parseIpv4)
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)

const subnets = (options.subnets ?? []).map((subnet) => ({
  subnet: parseIpv4Subnet(subnet.subnet),
  ranges: (subnet.ranges ?? []).map(([first, last]) => ({ first: parseIpv4(first), last: parseIpv4(last) })),
  leaseSeconds: subnet.leaseSeconds ?? 3600,
  routers: addresses(subnet.routers),
  dnsServers: addresses(subnet.dnsServers),
  ntpServers: [],
  ...(subnet.domain === undefined ? {} : { domain: subnet.domain }),
  extraOptions: [],
  allow: 'any',
}))
const common = { style: options.style ?? 'direct', loaders: defaultLoaderFiles }

const server = createDhcpServer({
  settings:
    options.mode === 'server'
      ? { mode: 'server', ...common, subnets, isAuthoritative: options.isAuthoritative ?? true }
      : { mode: 'proxy', ...common },
  interfaces: options.interfaces ?? [],
  inherited: dhcpSocketsByInterface(readInheritedSockets(process.env, process.pid)),
  decide: () => ({ kind: 'live', ...options.advice }),
  baseUrlOf: (address) => `http://${address}:8080`,
  ...(options.leases === undefined
    ? {}
    : { leases: createLeaseLog({ path: options.leases, log: silentLog }) }),
  ...(options.ports === undefined ? {} : { ports: options.ports }),
  ...(options.preferredAddress === undefined
    ? {}
    : { preferredAddress: parseIpv4(options.preferredAddress) }),
  ...(options.withoutDevices ? { loadDevices: async () => undefined } : {}),
  clock: Date,
  timers: {
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs)
      return () => clearTimeout(timer)
    },
  },
  onEvent: options.quiet ? () => {} : print,
})

const stop = async () => {
  await server.stop()
  if (!options.quiet) print({ type: 'stopped', counts: server.counts() })
  process.exitCode = 0
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
try {
  await server.start()
  print({ type: 'started', wires: server.wires() })
} catch (error) {
  print({ type: 'failed', code: error.code, message: error.message })
  process.exitCode = 1
  await server.stop()
}
