// Boots the machines of test/boot, and prints how long each took. `--quick`: one BIOS, one UEFI PXE, one HTTP Boot.
// Everything else goes to vitest: `npm run test:boot -- -t 'uefi-http .* proxy'`.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const args = process.argv.slice(2)
const isQuick = args.includes('--quick')
const rest = isQuick ? ['matrix', ...args.filter((arg) => arg !== '--quick')] : args
const directory = mkdtempSync(join(tmpdir(), 'pilotlight-boots-'))
const results = join(directory, 'boots.jsonl')
const startedAt = Date.now()
const tests = spawn('vitest', ['run', '--config', 'test/vitest.boot.config.ts', ...rest], {
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: true,
  env: {
    ...process.env,
    BOOT_TEST_RESULTS: results,
    ...(isQuick && { BOOT_TEST_QUICK: '1' }),
  },
})
// To all of the tests' processes: one that goes on would go on with its machine.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => process.kill(-tests.pid, signal))
const status = await new Promise((ended) => tests.once('close', ended))
if (existsSync(results)) {
  const lines = readFileSync(results, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const boots = lines.filter(({ timeline }) => timeline === undefined)
  for (const { title, timeline } of lines)
    if (timeline !== undefined) console.log(`\n-- ${title}\n${timeline}`)
  printStages(boots)
  printTable(boots)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(
    `\n${boots.length} boots in ${seconds} s; seconds from power on until all was seen, the last of it the call home`,
  )
}
rmSync(directory, { recursive: true, force: true })
process.exit(status ?? 1)

/** When each boot came how far. */
function printStages(boots) {
  const stages = {
    DHCP: 'first DHCP packet',
    TFTP: 'first TFTP request',
    HTTP: 'first HTTP request',
    kernel: 'kernel started',
    payload: 'marker',
    'phoned home': 'phone-home',
  }
  printRows(
    ['boot', 'DHCP mode', ...Object.keys(stages)],
    boots.map(({ row, column, stages: seen }) => [
      row,
      column,
      ...Object.values(stages).map((stage) => seen[stage]?.toFixed(1) ?? '-'),
    ]),
  )
}

function printTable(boots) {
  const columns = [...new Set(boots.map(({ column }) => column))].sort()
  const rows = [...new Set(boots.map(({ row }) => row))].sort()
  const cell = (row, column) => {
    const boot = boots.findLast((each) => each.row === row && each.column === column)
    if (boot === undefined) return '-'
    const seconds = boot.seconds === undefined ? '' : boot.seconds.toFixed(1)
    return boot.ok ? seconds : 'FAILED'
  }
  printRows(
    ['boot', ...columns],
    rows.map((row) => [row, ...columns.map((column) => cell(row, column))]),
  )
}

function printRows(heads, rows) {
  console.log(`\n| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}
