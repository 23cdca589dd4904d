import { appendFileSync } from 'node:fs'
import type { BootReport } from './boot-report.ts'

/** Adds a boot to the table that is printed at the end (`run.mjs`). */
export function recordBoot(row: string, column: string, { ok, stages }: BootReport): void {
  const file = process.env.BOOT_TEST_RESULTS
  if (file === undefined) return
  const seconds = stages['phone-home'] ?? stages['all seen']
  appendFileSync(file, `${JSON.stringify({ row, column, ok, seconds, stages })}\n`)
}
