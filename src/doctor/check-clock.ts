import { type Finding, findingsOf } from './finding.ts'

export interface ClockFacts {
  /** Ms since the epoch, of this machine. */
  readonly now: number
  /** What servers said meanwhile, ms since the epoch. */
  readonly serverTimes: readonly number[]
}

/** This program is not older than this, so an earlier time is wrong. */
const earliest = Date.UTC(2026, 10, 1)
const tolerableMs = 5 * 60_000

const { ok, warning, problem } = findingsOf('clock')

/** Whether the time is plausible: certificates and signatures are judged by it, and pins end by it. */
export function checkClock({ now, serverTimes }: ClockFacts): readonly Finding[] {
  const todo = 'set it: timedatectl set-ntp true'
  const said = new Date(now).toISOString()
  if (now < earliest) return [problem(`the clock says ${said}, which cannot be`, todo)]
  const [first] = serverTimes
  if (first === undefined) return [ok(`the clock says ${said}, which is plausible`)]
  const offMs = median(serverTimes) - now
  if (Math.abs(offMs) <= tolerableMs) return [ok('the clock agrees with upstream servers')]
  const minutes = Math.round(Math.abs(offMs) / 60_000)
  return [warning(`the clock is ${minutes} min ${offMs > 0 ? 'behind' : 'ahead of'} upstream servers`, todo)]
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
