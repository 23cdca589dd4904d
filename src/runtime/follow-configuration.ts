import type { LoadedConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import { watchConfig } from '../config/watch-config.ts'
import type { Timers } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { AdminOperations, PartReadiness } from '../http/admin/operations.ts'
import { changesThatNeedRestart } from './changes-that-need-restart.ts'

/** What stands in the files, taken over while the service runs. */
export interface ConfigurationFollower {
  readonly reload: AdminOperations['reload']
  /** Whether the newest files are in force. */
  part(): PartReadiness
  stop(): void
}

export function followConfiguration(options: {
  /** What the service was started with. */
  readonly loaded: LoadedConfig
  readonly load: () => LoadedConfig
  /** Brings it into force; what it throws is told, and the old one stays. */
  readonly take: (next: LoadedConfig) => Promise<void>
  readonly timers: Timers
  readonly log: Log
}): ConfigurationFollower {
  const { loaded, timers, log } = options
  /** Why the newest files are not in force: they are no configuration, or could not be taken over. */
  let refused: string | undefined
  let notTaken: string | undefined
  /** Keys that differ from what this process was started with, and that it cannot take over. */
  let needsRestart: readonly string[] = []
  let taking: Promise<void> = Promise.resolve()
  const watcher = watchConfig({
    loaded,
    load: options.load,
    timers,
    onReload(outcome) {
      refused = outcome.kind === 'refused' ? outcome.error.message : undefined
      if (refused !== undefined) log.error({ error: refused }, 'configuration not taken, the old one stays')
      if (outcome.kind === 'changed') taking = taking.then(() => take(outcome.loaded))
    },
  })
  const error = () => refused ?? notTaken

  async function take(next: LoadedConfig): Promise<void> {
    try {
      await options.take(next)
      notTaken = undefined
      // The listeners are as they were opened, whatever the file said in between.
      needsRestart = changesThatNeedRestart(loaded.config, next.config)
      log.info({ files: next.files.length, needsRestart }, 'configuration taken')
      for (const warning of next.warnings)
        log.warn({ warning: problemText(warning) }, 'configuration warning')
    } catch (cause) {
      notTaken = cause instanceof Error ? cause.message : String(cause)
      log.error({ error: notTaken }, 'configuration not taken, the old one stays')
    }
  }

  return {
    async reload() {
      const { kind } = watcher.reload()
      await taking
      const why = error()
      return {
        changed: kind === 'changed' && why === undefined,
        ...(why === undefined ? {} : { error: why }),
        ...(needsRestart.length === 0 ? {} : { needsRestart }),
      }
    },
    part: () => ({ part: 'config', ready: true, ...configNote(error(), needsRestart) }),
    stop: () => watcher.stop(),
  }
}

/** What an admin should know of a configuration with which the service is ready all the same. */
function configNote(
  error: string | undefined,
  needsRestart: readonly string[],
): { readonly reason?: string } {
  if (error !== undefined) return { reason: `the last good one is in force: ${error}` }
  return needsRestart.length === 0
    ? {}
    : { reason: `restart the service to take over ${needsRestart.join(', ')}` }
}
