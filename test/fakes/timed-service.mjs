// The built service with DHCP on other ports and time that its parent moves: node timed-service.mjs CONFIGURATION PORTS.
// Messages: `{ pass: MS }` lets time pass as if it had been waited for, `{ jump: MS }` sets the clock alone, as an admin
// does. Each is answered when it is done.
const load = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href)
const { startService } = await load('runtime/start-service.js')
const { loadConfig } = await load('config/load-config.js')
const { createLog } = await load('telemetry/create-log.js')

const startedAt = Date.now() - performance.now()
let passedMs = 0
let jumpedMs = 0
/** What timers count by; goes on whatever happens to the clock. */
const elapsed = () => performance.now() + passedMs
const clock = { now: () => Math.round(startedAt + elapsed() + jumpedMs) }

const waiting = new Set()
const longestMs = 2 ** 31 - 1

function arm(entry) {
  clearTimeout(entry.timer)
  entry.timer = setTimeout(() => fire(entry), Math.min(longestMs, Math.max(0, entry.at - elapsed())))
  entry.timer.unref()
}

function fire(entry) {
  clearTimeout(entry.timer)
  if (waiting.delete(entry)) entry.run()
}

const timers = {
  after(delayMs, run) {
    const entry = { at: elapsed() + delayMs, run, timer: undefined }
    waiting.add(entry)
    arm(entry)
    return () => {
      clearTimeout(entry.timer)
      waiting.delete(entry)
    }
  },
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Timers fire one after the other, each at its time. */
async function pass(ms) {
  const until = elapsed() + ms
  for (;;) {
    let next
    for (const entry of waiting)
      if (entry.at <= until && (next === undefined || entry.at < next.at)) next = entry
    if (next === undefined) break
    passedMs += Math.max(0, next.at - elapsed())
    fire(next)
    await nextTurn()
  }
  passedMs += Math.max(0, until - elapsed())
  for (const entry of waiting) arm(entry)
}

const [file, ports] = process.argv.slice(2)
const loadAgain = () => loadConfig({ file, env: {}, cwd: process.cwd(), now: clock.now() })
const log = createLog({ level: 'info', format: 'json', destination: process.stderr, color: false })
const service = await startService({
  loaded: loadAgain(),
  log,
  reload: loadAgain,
  dhcpPorts: JSON.parse(ports),
  clock,
  timers,
})
process.stderr.write(`boot ${service.bootUrl}\nadmin ${service.adminUrl}\n`)
process.once('SIGTERM', () => void service.stop().then(() => process.disconnect()))
process.on('message', async ({ pass: passMs, jump = 0 }) => {
  jumpedMs += jump
  if (passMs !== undefined) await pass(passMs)
  process.send({ now: clock.now() })
})
