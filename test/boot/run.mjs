// Boots the machines of test/boot, and prints how long each took. `--quick`: one BIOS, one UEFI PXE, one HTTP Boot.
// Everything else goes to vitest: `npm run test:boot -- -t 'uefi-http .* proxy'`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const args = process.argv.slice(2)
const isQuick = args.includes('--quick')
const rest = isQuick ? ['matrix', ...args.filter((arg) => arg !== '--quick')] : args
const directory = mkdtempSync(join(tmpdir(), 'pilotlight-boots-'))
const results = join(directory, 'boots.jsonl')
const startedAt = Date.now()
const { status } = spawnSync('vitest', ['run', '--config', 'test/vitest.boot.config.ts', ...rest], {
  stdio: 'inherit',
  env: {
    ...process.env,
    BOOT_TEST_RESULTS: results,
    ...(isQuick && { BOOT_TEST_QUICK: '1' }),
  },
})
if (existsSync(results)) {
  const boots = readFileSync(results, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  printTable(boots)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(`\n${boots.length} boots in ${seconds} s; seconds from power on until the machine phoned home`)
}
rmSync(directory, { recursive: true, force: true })
process.exit(status ?? 1)

function printTable(boots) {
  const columns = [...new Set(boots.map(({ column }) => column))].sort()
  const rows = [...new Set(boots.map(({ row }) => row))].sort()
  const cell = (row, column) => {
    const boot = boots.findLast((each) => each.row === row && each.column === column)
    if (boot === undefined) return '-'
    const seconds = boot.seconds === undefined ? '' : boot.seconds.toFixed(1)
    return boot.ok ? seconds : 'FAILED'
  }
  console.log(`\n| boot | ${columns.join(' | ')} |\n| --- |${' --- |'.repeat(columns.length)}`)
  for (const row of rows)
    console.log(`| ${row} | ${columns.map((column) => cell(row, column)).join(' | ')} |`)
}
