import { appendFileSync } from 'node:fs'
import type { BootDetail } from '../../src/http/admin/schemas/boots.ts'
import type { BootReport } from './boot-report.ts'
import { timelineText } from './expect-timeline.ts'

/** Adds a boot to the table that is printed at the end (`run.mjs`). */
export function recordBoot(row: string, column: string, { ok, stages }: BootReport): void {
  const file = process.env.BOOT_TEST_RESULTS
  if (file === undefined) return
  const seconds = stages['phone-home'] ?? stages['all seen']
  appendFileSync(file, `${JSON.stringify({ row, column, ok, seconds, stages })}\n`)
}

/** Adds the timeline of a boot, as the service saw it, to what is printed at the end. */
export function recordTimeline(title: string, boot: BootDetail): void {
  const file = process.env.BOOT_TEST_RESULTS
  if (file === undefined) return
  appendFileSync(file, `${JSON.stringify({ title, timeline: timelineText(boot) })}\n`)
}
