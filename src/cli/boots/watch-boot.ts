import { isServiceError } from '../../core/errors.ts'
import type { BootOperations } from '../../http/admin/boot-operations.ts'
import type { BootDetail } from '../../http/admin/schemas/boots.ts'
import type { CliContext } from '../context.ts'

export interface WatchOptions {
  readonly boots: Pick<BootOperations, 'showBoot'>
  /** A MAC, or the id of a host. */
  readonly machine: string
  readonly view: BootView
  readonly sleep: CliContext['sleep']
  readonly now: () => number
  readonly signal: AbortSignal
  readonly intervalMs: number
  /** From the call on. */
  readonly timeoutMs?: number
  /** A boot that is over counts when it began at this time or later, in ms; absent: only one that goes on or begins. */
  readonly since?: number
}

/** Where a boot is shown while it goes on. */
export interface BootView {
  show(boot: BootDetail): void
  /** There is no boot to be shown, or something happened that is none of its steps. */
  tell(line: string): void
}

export type WatchEnd =
  | { readonly kind: 'over'; readonly boot: BootDetail }
  | { readonly kind: 'timeout'; readonly boot?: BootDetail }
  | { readonly kind: 'interrupted' }

/**
 * Shows the boot of a machine until it is over: the one that goes on, else the next one. A machine that begins anew
 * is watched on. A service that does not answer is asked again, because it may be restarting.
 * @throws ServiceError what `showBoot` throws, but NOT_FOUND and SERVICE_UNAVAILABLE
 */
export async function watchBoot(options: WatchOptions): Promise<WatchEnd> {
  const { boots, machine, view, sleep, now, signal, intervalMs, timeoutMs, since } = options
  const startedAt = now()
  let ignored: string | undefined
  let watched: BootDetail | undefined
  let isFirst = true
  let isLost = false
  while (!signal.aborted) {
    const found = await look(machine)
    if (found !== 'lost') {
      const end = found === undefined ? waitFor('no boot of it was seen yet') : await follow(found)
      if (end !== undefined) return { kind: 'over', boot: end }
      isFirst = false
    }
    if (timeoutMs !== undefined && now() - startedAt >= timeoutMs) {
      return { kind: 'timeout', ...(watched !== undefined && { boot: watched }) }
    }
    await sleep(intervalMs, signal)
  }
  return { kind: 'interrupted' }

  async function look(id: string): Promise<BootDetail | 'lost' | undefined> {
    try {
      const boot = await boots.showBoot(id)
      if (isLost) view.tell('the service answers again')
      isLost = false
      return boot
    } catch (error) {
      if (isServiceError(error, 'NOT_FOUND')) return undefined
      if (!isServiceError(error, 'SERVICE_UNAVAILABLE')) throw error
      if (!isLost) view.tell(`${error.message}; asking again until it does`)
      isLost = true
      return 'lost'
    }
  }

  function waitFor(why: string): undefined {
    if (isFirst) view.tell(`waiting for ${machine} to boot: ${why}`)
  }

  /** Shows what was found; the boot when that was its end. */
  async function follow(boot: BootDetail): Promise<BootDetail | undefined> {
    if (boot.id === ignored) return undefined
    if (watched === undefined && isFirst && boot.state === 'over' && !isRecent(boot)) {
      ignored = boot.id
      return waitFor(`its last one is over (${boot.outcome ?? 'over'})`)
    }
    if (watched !== undefined && watched.id !== boot.id) {
      const before = await look(watched.id)
      if (before === 'lost') return undefined
      if (before?.state === 'over' && before.outcome !== 'superseded') {
        view.show(before)
        return before
      }
      view.tell(`${machine} began anew`)
    }
    watched = boot
    view.show(boot)
    return boot.state === 'over' && boot.outcome !== 'superseded' ? boot : undefined
  }

  function isRecent({ startedAt: began }: BootDetail): boolean {
    return since !== undefined && Date.parse(began) >= since
  }
}
