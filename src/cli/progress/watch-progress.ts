import type { AdminOperations, BootimageSummary } from '../../http/admin/operations.ts'
import { type CliContext, type CliStream, widthOf } from '../context.ts'
import { isUnderWay, progressLine, progressText } from './progress-text.ts'

const terminalIntervalMs = 500
const plainIntervalMs = 2_000
const plainSteps = 10
/** Where the total is not known. */
const plainStepBytes = 100 * 1024 * 1024

export interface ProgressOptions {
  readonly operations: Pick<AdminOperations, 'bootimages'>
  readonly stream: CliStream
  readonly sleep: CliContext['sleep']
}

/** Shows what has come in since; `clear` takes a half-written line away. */
interface ProgressView {
  show(bootimages: readonly BootimageSummary[]): void
  clear(): void
}

/**
 * Runs some work and tells meanwhile how far the bootimages are: one changing line on a terminal, a plain line for
 * every step otherwise. It only asks; a question that fails is asked again, and the work's outcome is what counts.
 */
export async function withProgress<T>(
  { operations, stream, sleep }: ProgressOptions,
  work: () => Promise<T>,
): Promise<T> {
  const isTerminal = stream.isTTY === true
  const view = isTerminal ? terminalView(stream) : plainView(stream)
  const ended = new AbortController()
  const watching = watch()
  try {
    return await work()
  } finally {
    ended.abort()
    await watching
    view.clear()
  }

  async function watch(): Promise<void> {
    for (;;) {
      await sleep(isTerminal ? terminalIntervalMs : plainIntervalMs, ended.signal)
      if (ended.signal.aborted) return
      const bootimages = await operations.bootimages({}).catch(() => [])
      if (ended.signal.aborted) return
      view.show(bootimages)
    }
  }
}

function terminalView(stream: CliStream): ProgressView {
  let isShown = false
  const clear = () => {
    if (isShown) stream.write('\r\u001b[K')
    isShown = false
  }
  return {
    show(bootimages) {
      clear()
      const line = progressLine(bootimages, widthOf(stream))
      if (line === undefined) return
      stream.write(line)
      isShown = true
    },
    clear,
  }
}

/** A line when the state changes and at every tenth part (or 100 MiB), so that a log stays short. */
function plainView(stream: CliStream): ProgressView {
  const told = new Map<string, string>()
  return {
    show(bootimages) {
      for (const bootimage of bootimages.filter(isUnderWay)) {
        const step = stepOf(bootimage)
        if (told.get(bootimage.id) === step) continue
        told.set(bootimage.id, step)
        stream.write(`${progressText(bootimage)}\n`)
      }
    },
    clear() {},
  }
}

function stepOf({ state, doneBytes = 0, totalBytes }: BootimageSummary): string {
  const isTotalKnown = totalBytes !== undefined && totalBytes > 0
  const steps = isTotalKnown ? (doneBytes / totalBytes) * plainSteps : doneBytes / plainStepBytes
  return `${state} ${Math.floor(steps)}`
}
