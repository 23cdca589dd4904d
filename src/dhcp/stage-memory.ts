/** How far up the ladder firmware → iPXE → script a client is. */
export type Stage = 'loader' | 'script' | 'config'

export interface StageRecord {
  readonly stage: Stage
  /** DHCP runs that got this stage, one after the other, since `since`. */
  readonly runs: number
  /** Of the last run: retries carry the same. */
  readonly xid: number
  /** Ms since the epoch. */
  readonly since: number
}

/** UEFI tries PXE and HTTP at every boot, so three boots that came no further are six runs. */
export const loopRuns = 6
export const loopWindowMs = 30 * 60 * 1000

/**
 * Records that a client was handed `stage`. The same stage in run after run, with no other between, means that what
 * was handed out never came as far as asking again as itself: a loop.
 */
export function nextStage(
  previous: StageRecord | undefined,
  stage: Stage,
  xid: number,
  now: number,
): StageRecord {
  if (previous?.stage !== stage || now - previous.since >= loopWindowMs)
    return { stage, runs: 1, xid, since: now }
  if (previous.xid === xid) return previous
  return { stage, runs: previous.runs + 1, xid, since: previous.since }
}

export function isLoop(record: StageRecord | undefined): boolean {
  return record !== undefined && record.runs >= loopRuns
}
