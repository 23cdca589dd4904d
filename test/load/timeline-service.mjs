// The built service with or without its timeline: node timeline-service.mjs CONFIGURATION on|off. Says where it listens as
// `serve` does.
import { loadConfig } from '../../dist/config/load-config.js'
import { startService } from '../../dist/runtime/start-service.js'
import { createLog } from '../../dist/telemetry/create-log.js'

const [file, timeline] = process.argv.slice(2)
const loadAgain = () => loadConfig({ file, env: {}, cwd: process.cwd(), now: Date.now() })
const service = await startService({
  loaded: loadAgain(),
  log: createLog({ level: 'info', format: 'json', destination: process.stderr, color: false }),
  reload: loadAgain,
  withTimeline: timeline === 'on',
})
process.stderr.write(`boot ${service.bootUrl}\nadmin ${service.adminUrl}\n`)
process.once('SIGTERM', () => void service.stop().then(() => process.exit()))
