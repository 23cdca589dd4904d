// The built service with DHCP on other ports, as a process: node ported-service.mjs CONFIGURATION '{"server":…,"client":…,"proxy":…}'.
// Says where it listens as `serve` does.
const load = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href)
const { startService } = await load('runtime/start-service.js')
const { loadConfig } = await load('config/load-config.js')
const { createLog } = await load('telemetry/create-log.js')

const [file, ports] = process.argv.slice(2)
const loadAgain = () => loadConfig({ file, env: {}, cwd: process.cwd(), now: Date.now() })
const log = createLog({ level: 'info', format: 'json', destination: process.stderr, color: false })
const service = await startService({
  loaded: loadAgain(),
  log,
  reload: loadAgain,
  dhcpPorts: JSON.parse(ports),
})
process.stderr.write(`boot ${service.bootUrl}\nadmin ${service.adminUrl}\n`)
process.once('SIGTERM', () => service.stop())
