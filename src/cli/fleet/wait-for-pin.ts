import type { AdminOperations } from '../../http/admin/operations.ts'
import type { PinSummary } from '../../http/admin/schemas/fleet.ts'
import { type ExitCode, exitCode } from '../exit-codes.ts'
import { withProgress } from '../progress/watch-progress.ts'
import type { Session } from '../session.ts'

/** States of a pin's files in which time alone helps. */
const onItsWay: ReadonlySet<string> = new Set(['queued', 'fetching'])

/**
 * Waits until the files of a pin are here or have failed, and shows meanwhile how far they are. Interrupting it stops
 * nothing that a running service fetches.
 * @returns the pin as it is then
 */
export async function waitForPin(
  { context: { stderr, sleep } }: Session,
  operations: Pick<AdminOperations, 'bootimages' | 'sync' | 'fleet'>,
  pin: PinSummary,
): Promise<PinSummary> {
  if (pin.files.every(({ state }) => state === 'ready')) return pin
  const { stream } = pin
  await withProgress({ operations, stream: stderr, sleep }, () =>
    operations.sync(stream === undefined ? {} : { streams: [stream] }),
  )
  const { kind, name } = pin.target
  const { items } = await operations.fleet.listPins(kind === 'host' ? { host: name } : { group: name })
  return items.find((item) => item.isRunTime && item.arch === pin.arch) ?? pin
}

/** What needs a person counts more than what needs time. */
export function pinExitCode({ files }: PinSummary): ExitCode {
  if (files.some(({ state }) => state !== 'ready' && !onItsWay.has(state))) return exitCode.failed
  return files.every(({ state }) => state === 'ready') ? exitCode.ok : exitCode.tryAgain
}
