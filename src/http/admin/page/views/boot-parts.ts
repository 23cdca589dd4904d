import type { BootDetail, BootSummary } from '../../schemas/boots.ts'
import { bootPath, subjectPath } from '../page-links.ts'
import { shownDuration } from '../shown-duration.ts'
import { type ShownProgress, shownProgress } from '../shown-progress.ts'
import { shownTime } from '../shown-time.ts'
import { shownBootState } from '../state-words.ts'
import { phaseWords, timelinePicture } from '../timeline-picture.ts'

const decisionWords: Readonly<Record<string, string>> = {
  live: 'live',
  install: 'install to disk',
  local: 'its own disk',
  wait: 'wait',
  hold: 'held',
  ignore: 'ignored',
  chainload: 'another loader first',
}

/** What a machine was told, in words. */
export function decisionWord(kind: string): string {
  return decisionWords[kind] ?? kind
}

/** One boot in a line. */
export function bootLine(boot: BootSummary, now: number) {
  const { id, startedAt, durationMs, release, step, diagnosis, address, firmware } = boot
  return {
    id,
    href: bootPath(id),
    state: shownBootState(boot),
    isOver: boot.state === 'over',
    machine: boot.host ?? boot.mac ?? boot.address ?? id,
    machineHref: subjectPath(boot) ?? bootPath(id),
    startedAt,
    started: shownTime(startedAt, now),
    lasts: boot.state === 'over' ? 'took' : 'for',
    duration: shownDuration(durationMs),
    release,
    step,
    /** Its last step says no more than what is wrong with it. */
    isTold: step === diagnosis?.text,
    diagnosis,
    address,
    firmware: [firmware, boot.arch].filter((part) => part !== undefined).join(' '),
  }
}

/** A whole boot: the picture of its phases, and its steps. */
export function bootParts(boot: BootDetail, now: number) {
  return {
    isRunning: boot.state !== 'over',
    boot: { ...bootLine(boot, now), progress: progressOf(boot) },
    picture: timelinePicture(boot, now),
    steps: boot.steps.map(({ at, lastAt, offsetMs, phase, text, count, tone }) => ({
      at,
      after: shownDuration(offsetMs),
      last: shownDuration(Date.parse(lastAt) - Date.parse(at)),
      phase: phaseWords[phase],
      text,
      count,
      tone,
    })),
    leftOut: boot.leftOut,
  }
}

/** The diagnosis, told from when. */
export function shownDiagnosis(diagnosis: BootSummary['diagnosis'], now: number) {
  return diagnosis && { ...diagnosis, since: shownTime(diagnosis.at, now) }
}

function progressOf({ transfer, state }: BootSummary): ShownProgress | undefined {
  if (transfer === undefined || transfer.isDone || state === 'over') return undefined
  return shownProgress({
    label: transfer.name ?? transfer.role,
    what: transfer.role,
    done: transfer.sentBytes,
    total: transfer.totalBytes,
    bytesPerSecond: transfer.bytesPerSecond,
  })
}

export interface Fact {
  readonly word: string
  readonly value: string
  readonly origin?: string
}

/** Facts that are known. */
export function factsOf(
  pairs: readonly (readonly [word: string, value: string | undefined])[],
): readonly Fact[] {
  return pairs.flatMap(([word, value]) => (value === undefined || value === '' ? [] : [{ word, value }]))
}
