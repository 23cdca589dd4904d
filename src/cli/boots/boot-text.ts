import type { BootDetail, DiagnosisSummary } from '../../http/admin/schemas/boots.ts'
import { formatDuration, formatTime } from '../output/format.ts'
import { renderFields, type TableStyle } from '../output/table.ts'
import { cutText, wrapText } from '../output/wrap.ts'
import { bootName, bootState, shown, shownAdvice, transferText } from './boot-words.ts'
import { phasePicture } from './phase-picture.ts'

/** Where nobody looks, as wide as most terminals. */
const usualWidth = 100
/** Below this, a step has neither its phase nor room in front. */
const narrow = 50

/** A boot as a picture with durations: who, what was decided and why, what is wrong, phases, every step. */
export function bootText(boot: BootDetail, style: TableStyle): string {
  const width = style.width ?? usualWidth
  const { diagnosis, phases, steps, leftOut } = boot
  return [
    width < narrow ? joined(narrowFields(boot, width)) : renderFields(fieldsOf(boot)),
    diagnosis === undefined ? '' : joined(diagnosisLines(diagnosis, width)),
    phases.length === 0 ? '' : joined(phasePicture(boot, width)),
    steps.length === 0 ? '' : joined(stepLines(steps, width)),
    leftOut === 0 ? '' : `${leftOut} more steps were too many to be kept.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function narrowFields(boot: BootDetail, width: number): readonly string[] {
  return fieldsOf(boot).flatMap(([name, value]) => hanging('', `${name}: ${value}`, width))
}

function stepLines(steps: BootDetail['steps'], width: number): readonly string[] {
  return width < narrow ? steps.flatMap((step) => hanging('', shortStep(step), width)) : steps.map(stepLine)
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** What was seen, and below it what to do. */
export function diagnosisLines({ code, text, remedy }: DiagnosisSummary, width: number): readonly string[] {
  return [...hanging('✗ ', `${code}: ${shown(text)}`, width), ...hanging('  -> ', shownAdvice(remedy), width)]
}

function hanging(mark: string, text: string, width: number): readonly string[] {
  const indent = ' '.repeat(mark.length)
  return wrapText(text, width - mark.length).map((line, index) => `${index === 0 ? mark : indent}${line}`)
}

const marks = { normal: '·', good: '✓', bad: '✗' } as const

/** `  +12.3 s  ✓ kernel     kernel sent in 0.4 s`, with how often it came. */
export function stepLine({
  offsetMs,
  phase,
  text,
  tone,
  count,
  lastAt,
  at,
}: BootDetail['steps'][number]): string {
  const lasted = Date.parse(lastAt) - Date.parse(at)
  const repeated =
    count === 1 ? '' : ` (${count} times${lasted >= 1000 ? ` in ${formatDuration(lasted)}` : ''})`
  return `${`+${formatDuration(offsetMs)}`.padStart(12)}  ${marks[tone]} ${phase.padEnd(9)}  ${shown(text)}${repeated}`
}

function fieldsOf(boot: BootDetail): readonly (readonly [string, string])[] {
  const { host, mac, address, firmware, arch, loader, decision, reasons, release, transfer } = boot
  const fields = {
    machine: listed([host, mac, address]),
    firmware: listed([firmware, arch, loader]),
    state: stateText(boot),
    started: formatTime(boot.startedAt),
    decision: listed([decision, release]),
    why: reasons.map(({ text }) => shown(text)).join('; '),
    'runs now': listed([boot.osVersion]),
    fetching: transfer === undefined || transfer.isDone ? undefined : transferText(transfer),
    serial: listed([boot.serial]),
    UUID: listed([boot.uuid]),
    boot: [boot.id, ...boot.bootIds].join(', '),
  }
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  )
}

/** What is known of it, each part made visible and bounded. */
function listed(parts: readonly (string | undefined)[]): string {
  return parts.flatMap((part) => (part === undefined ? [] : [shown(part)])).join(', ')
}

function stateText(boot: BootDetail): string {
  const took = formatDuration(boot.durationMs)
  return `${bootState(boot)}, ${boot.state === 'over' ? 'after' : 'since'} ${took}`
}

/** The same for a terminal of this size, redrawn while it goes on: no line is wider, and there are no more of them. */
export function bootScreen(
  boot: BootDetail,
  { width, height }: { readonly width: number; readonly height: number },
): readonly string[] {
  const { diagnosis, steps, transfer } = boot
  const facts = listed([boot.mac, boot.address, boot.firmware, boot.arch])
  const decision = listed([boot.decision, boot.release, boot.reason])
  const head = headLines(boot, width)
  const problem = diagnosis === undefined ? [] : diagnosisLines(diagnosis, width)
  const progress =
    transfer === undefined || transfer.isDone
      ? []
      : [progressBar(transfer.percent, width), transferText(transfer)]
  const all = [
    ...head,
    ...[facts, decision].filter((line) => line !== ''),
    ...(problem.length === 0 ? [] : ['', ...problem]),
    '',
    ...phasePicture(boot, width),
    ...(progress.length === 0 ? [] : ['', ...progress]),
    '',
  ]
  const room = height - all.length
  // Where there is no room for all, what is wrong and what it does now count more than where it came from.
  const lines =
    room > 0
      ? [...all, ...steps.slice(-room).map((step) => (width < narrow ? shortStep(step) : stepLine(step)))]
      : [...head, ...problem, ...progress, ...lastStep(boot, width)]
  return lines.slice(0, Math.max(1, height)).map((line) => cutText(line, width))
}

/** Who, and how far: in two lines where one is too narrow. */
function headLines(boot: BootDetail, width: number): readonly string[] {
  const line = `${bootName(boot)}: ${stateText(boot)}`
  return line.length <= width ? [line] : [bootName(boot), ...wrapText(stateText(boot), width)]
}

function shortStep({ offsetMs, tone, text }: BootDetail['steps'][number]): string {
  return `+${formatDuration(offsetMs)} ${marks[tone]} ${shown(text)}`
}

function lastStep({ steps }: BootDetail, width: number): readonly string[] {
  return steps.slice(-1).flatMap((step) => wrapText(shortStep(step), width))
}

function progressBar(percent: number, width: number): string {
  const cells = Math.max(4, Math.min(60, width - 2))
  const full = Math.round((Math.min(100, percent) / 100) * cells)
  return `[${'█'.repeat(full)}${' '.repeat(cells - full)}]`
}
