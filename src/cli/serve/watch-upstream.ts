import type { AdminOperations, StreamSummary } from '../../http/admin/operations.ts'
import type { CliContext } from '../context.ts'

const intervalMs = 1_000

export interface UpstreamWatch {
  readonly operations: Pick<AdminOperations, 'streams'>
  readonly sleep: CliContext['sleep']
  readonly signal: AbortSignal
  /** What to type to see everything work without internet. */
  readonly demoCommand: string
  say(line: string): void
}

/**
 * Tells the person at the terminal once about every stream whose metadata cannot be reached at the start: what, since
 * when, that it is tried again, and how to see the service work without it. Ends when each stream was read or told.
 */
export async function watchUpstream({
  operations,
  sleep,
  signal,
  demoCommand,
  say,
}: UpstreamWatch): Promise<void> {
  const settled = new Set<string>()
  let isDemoTold = false
  while (!signal.aborted) {
    const streams = await operations.streams().catch(() => [])
    for (const stream of streams) {
      if (settled.has(stream.name)) continue
      if (stream.failingSince !== undefined) {
        settled.add(stream.name)
        say(failureLine(stream))
        if (!isDemoTold) say(`Without internet, see all of it with a sample stream: ${demoCommand}`)
        isDemoTold = true
      } else if (stream.lastSuccessAt !== undefined) {
        settled.add(stream.name)
      }
    }
    if (streams.length > 0 && streams.every(({ name }) => settled.has(name))) return
    await sleep(intervalMs, signal)
  }
}

function failureLine({ name, source, failingSince, lastSuccessAt, error }: StreamSummary): string {
  const message = error?.message ?? 'nothing answered'
  const what = message.includes(source) ? message : `${source}: ${message}`
  const meanwhile =
    lastSuccessAt === undefined
      ? 'nothing of it is known yet'
      : `what was read at ${lastSuccessAt} is still served`
  return `Stream ${name} cannot be read since ${failingSince}: ${what}; ${meanwhile}, and it is tried again.`
}
