import type { BootPhase } from '../../../core/boot-attempt.ts'
import { bootPhases } from '../../../core/boot-attempt.ts'
import type { BootDetail } from '../schemas/boots.ts'
import { shownDuration } from './shown-duration.ts'

/** A boot as a picture: one lane a phase, all on one scale of time. Places are parts of the width. */
export interface TimelinePicture {
  readonly lanes: readonly PictureLane[]
  readonly ticks: readonly { readonly x: string; readonly word: string; readonly anchor: string }[]
}

export interface PictureLane {
  readonly word: string
  /** When it began, after the start of the boot. */
  readonly after: string
  readonly took: string
  readonly limit?: string
  readonly tone: 'busy' | 'bad' | 'done'
  readonly spans: readonly { readonly x: string; readonly width: string }[]
  readonly marks: readonly { readonly x: string; readonly tone: string }[]
}

export const phaseWords: Readonly<Record<BootPhase, string>> = {
  dhcp: 'DHCP',
  loader: 'Loader',
  script: 'Script',
  kernel: 'Kernel',
  initramfs: 'Initramfs',
  rootfs: 'Rootfs',
  ignition: 'Ignition',
  system: 'System',
}

const tickSeconds = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800,
  3_600, 7_200, 14_400, 43_200, 86_400,
]
const mostTicks = 6
/** Marks in one lane; a machine that asks for hours has many, and they lie on each other. */
const mostMarks = 60
/** A phase of few milliseconds is still seen. */
const leastWidth = 0.6

/** @param now where a boot goes on, its picture ends here */
export function timelinePicture(boot: BootDetail, now: number): TimelinePicture {
  const start = Date.parse(boot.startedAt)
  const isOver = boot.state === 'over'
  const endOf = (phase: BootDetail['phases'][number]) =>
    phase.endedAt === undefined ? (isOver ? Date.parse(boot.lastAt) : now) : Date.parse(phase.endedAt)
  const end = Math.max(start + 1, Date.parse(boot.lastAt), ...boot.phases.map(endOf))
  const whole = end - start
  const place = (at: number) => Math.max(0, Math.min(100, ((at - start) / whole) * 100))

  const laneOf = (phase: BootPhase): PictureLane[] => {
    const parts = boot.phases.filter((part) => part.phase === phase)
    const [first] = parts
    if (first === undefined) return []
    const isOpen = !isOver && parts.some(({ endedAt }) => endedAt === undefined)
    const limit = isOpen ? parts.at(-1)?.limitMs : undefined
    const steps = boot.steps.filter((step) => step.phase === phase)
    return [
      {
        word: phaseWords[phase],
        after: `+${shownDuration(Date.parse(first.startedAt) - start)}`,
        took: shownDuration(
          parts.reduce((sum, part) => sum + Math.max(0, endOf(part) - Date.parse(part.startedAt)), 0),
        ),
        ...(limit !== undefined && { limit: shownDuration(limit) }),
        tone: boot.diagnosis !== undefined && phase === boot.phase ? 'bad' : isOpen ? 'busy' : 'done',
        spans: parts.map((part) => {
          const x = Math.min(place(Date.parse(part.startedAt)), 100 - leastWidth)
          const width = Math.max(leastWidth, place(endOf(part)) - x)
          return { x: percent(x), width: percent(Math.min(width, 100 - x)) }
        }),
        marks: steps.slice(-mostMarks).map(({ at, tone }) => ({
          x: percent(Math.max(0.5, Math.min(99.5, place(Date.parse(at))))),
          tone,
        })),
      },
    ]
  }
  return { lanes: bootPhases.flatMap(laneOf), ticks: ticksOf(whole) }
}

function ticksOf(whole: number): TimelinePicture['ticks'] {
  const largest = tickSeconds.at(-1) ?? 1
  const size = (tickSeconds.find((seconds) => whole / (seconds * 1_000) <= mostTicks) ?? largest) * 1_000
  const count = Math.min(mostTicks, Math.floor(whole / size))
  return Array.from({ length: count + 1 }, (_, index) => {
    const x = ((index * size) / whole) * 100
    return {
      x: percent(Math.min(100, x)),
      word: index === 0 ? '0' : shownTick(index * size),
      anchor: index === 0 ? 'start' : x > 94 ? 'end' : 'middle',
    }
  })
}

/** `20 s`, not `20.0 s`. */
function shownTick(ms: number): string {
  if (ms < 100) return `${ms} ms`
  return ms < 60_000 ? `${ms / 1_000} s` : shownDuration(ms)
}

function percent(value: number): string {
  return `${Math.round(value * 100) / 100}%`
}
