import type { BootDetail } from '../../http/admin/schemas/boots.ts'
import { formatDuration } from '../output/format.ts'
import { cutText } from '../output/wrap.ts'

type Phase = BootDetail['phases'][number]

const nameWidth = 9
const gap = '  '
/** Below this a bar says nothing. */
const narrowestBar = 8
const widestBar = 60
const done = '█'
const open = '▒'

/**
 * The phases of a boot below each other on one scale of time, with how long each took; one that goes on is drawn in
 * another shade. A terminal too narrow for bars gets names and durations alone.
 * @param width characters of the terminal
 */
export function phasePicture({ startedAt, phases }: BootDetail, width: number): readonly string[] {
  const start = Date.parse(startedAt)
  const end = Math.max(...phases.map((phase) => offsetOf(phase, start) + phase.durationMs), 1)
  const notes = phases.map(noteOf)
  const noteWidth = Math.max(...notes.map(({ length }) => length), 0)
  const barWidth = Math.min(widestBar, width - nameWidth - noteWidth - 2 * gap.length)
  return phases.map((phase, index) => {
    const name = phase.phase.padEnd(nameWidth)
    const note = notes[index] ?? ''
    if (barWidth < narrowestBar) return cutText(`${name}${gap}${note}`, width)
    return `${name}${gap}${barOf(phase, start, end, barWidth)}${gap}${note}`
  })
}

function offsetOf({ startedAt }: Phase, start: number): number {
  return Math.max(0, Date.parse(startedAt) - start)
}

/** At least one cell, so that a phase of a millisecond can be seen. */
function barOf(phase: Phase, start: number, end: number, width: number): string {
  const from = Math.min(width - 1, Math.floor((offsetOf(phase, start) / end) * width))
  const cells = Math.max(1, Math.round((phase.durationMs / end) * width))
  const bar = (phase.endedAt === undefined ? open : done).repeat(Math.min(cells, width - from))
  return `${' '.repeat(from)}${bar}`.padEnd(width)
}

function noteOf({ durationMs, endedAt, limitMs }: Phase): string {
  const took = formatDuration(durationMs)
  if (endedAt !== undefined || limitMs === undefined) return took
  const limit = formatDuration(limitMs)
  return durationMs > limitMs ? `${took}, overdue after ${limit}` : `${took} of at most ${limit}`
}
