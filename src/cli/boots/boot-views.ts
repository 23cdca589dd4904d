import { visibleText } from '../../core/visible-text.ts'
import type { BootDetail } from '../../http/admin/schemas/boots.ts'
import { type CliStream, widthOf } from '../context.ts'
import { cutText } from '../output/wrap.ts'
import { bootScreen, diagnosisLines, stepLine } from './boot-text.ts'
import { bootName, transferText } from './boot-words.ts'
import type { BootView } from './watch-boot.ts'

/** A view that has a terminal to give back. */
export interface EndingView extends BootView {
  /** Leaves the terminal as it was. May be called twice. */
  end(): void
}

/** The other screen of the terminal, without its cursor, and without breaking lines: what is too wide is cut. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l'
const home = '\u001b[H'
const restOfLine = '\u001b[K'
const restOfScreen = '\u001b[J'
const usualHeight = 24

/**
 * Redraws a whole terminal in place. Its size is asked for at each drawing, so that a window that was made larger or
 * smaller is right again at the next one; what was on the terminal before is there again afterwards.
 */
export function screenView(stream: CliStream): EndingView {
  let isOpen = false
  let boot: BootDetail | undefined
  let note: string | undefined

  function draw(): void {
    const width = widthOf(stream)
    const rows = stream.rows === undefined || stream.rows < 1 ? usualHeight : stream.rows
    const foot = cutText(note ?? 'Ctrl-C ends it', width)
    const body = boot === undefined ? [] : bootScreen(boot, { width, height: Math.max(1, rows - 1) })
    const lines = [...body, foot].map((line) => `${line}${restOfLine}`)
    stream.write(`${isOpen ? '' : enter}${home}${lines.join('\r\n')}${restOfScreen}`)
    isOpen = true
  }

  return {
    show(next) {
      if (boot !== undefined && boot.id === next.id) note = undefined
      boot = next
      draw()
    },
    tell(line) {
      note = visibleText(line)
      draw()
    },
    end() {
      if (isOpen) stream.write(leave)
      isOpen = false
    },
  }
}

const progressStep = 10

/** A line for each step, diagnosis and tenth part of a file, for logs and pipes. */
export function lineView(stream: CliStream, say: (line: string) => void): EndingView {
  let id: string | undefined
  let told = new Set<string>()

  function once(key: string, lines: readonly string[]): void {
    if (told.has(key)) return
    told.add(key)
    for (const line of lines) stream.write(`${line.trimEnd()}\n`)
  }

  return {
    show(boot) {
      if (boot.id !== id) {
        id = boot.id
        told = new Set()
        stream.write(`${bootName(boot)}: boot ${boot.id}\n`)
      }
      const { steps, diagnosis, transfer } = boot
      // Repetitions are told once: how often it came is in `boots show`.
      for (const step of steps) {
        const { at, type, phase } = step
        once(`${at} ${type} ${phase}`, [stepLine({ ...step, count: 1 })])
      }
      if (transfer !== undefined && !transfer.isDone) {
        const tenth = Math.floor(transfer.percent / progressStep)
        once(`${transfer.role} ${transfer.name} ${tenth}`, [`${' '.repeat(14)}${transferText(transfer)}`])
      }
      if (diagnosis !== undefined) {
        once(`${diagnosis.code} ${diagnosis.at}`, diagnosisLines(diagnosis, widthOf(stream)))
      }
    },
    tell: say,
    end() {},
  }
}

/** The whole boot as JSON in one line, each time it changed. */
export function jsonView(stream: CliStream, say: (line: string) => void): EndingView {
  let last: string | undefined
  return {
    show(boot) {
      // Ages grow by themselves, and are no news.
      const { durationMs: _, phases: __, ...news } = boot
      const key = JSON.stringify(news)
      if (key === last) return
      last = key
      stream.write(`${JSON.stringify(boot)}\n`)
    },
    tell: say,
    end() {},
  }
}
