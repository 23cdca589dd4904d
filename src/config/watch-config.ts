import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { Timers } from '../core/clock.ts'
import { isServiceError, ServiceError } from '../core/errors.ts'
import type { LoadedConfig } from './load-config.ts'

export type ReloadOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly loaded: LoadedConfig }
  /** What was in force stays so. */
  | { readonly kind: 'refused'; readonly error: ServiceError }

export interface ConfigWatcher {
  /** The last good configuration. */
  current(): LoadedConfig
  /** Reads the files now: for SIGHUP and the API. The outcome also goes to `onReload`. */
  reload(): ReloadOutcome
  stop(): void
}

export interface WatchConfigOptions {
  readonly loaded: LoadedConfig
  /**
   * Reads the configuration again; given the last good one, so that unchanged hosts files are not parsed again.
   * @throws ServiceError CONFIG_INVALID, CONFIG_UNREADABLE
   */
  readonly load: (before: LoadedConfig) => LoadedConfig
  readonly timers: Timers
  /** Called after every look that found changed files, whatever came of it. */
  readonly onReload: (outcome: ReloadOutcome) => void
  /** From the first sign of a change to the look: editors write in several steps. */
  readonly settleMs?: number
  /** Looks without a sign, for file systems that give none (NFS, some mounts into containers). */
  readonly pollMs?: number
}

/**
 * Watches everything that the configuration was read from, also what a refused one named. Signs of the operating
 * system only say when to look; whether something changed is told by the files themselves, so that neither a missing
 * sign nor a thousand of them does harm.
 */
export function watchConfig(options: WatchConfigOptions): ConfigWatcher {
  const { load, timers, onReload, settleMs = 300, pollMs = 10_000 } = options
  let current = options.loaded
  let paths: readonly string[] = current.files
  let seen = fingerprint(paths)
  let watchers = new Map<string, FSWatcher>()
  let cancelLook: (() => void) | undefined
  let cancelPoll: (() => void) | undefined
  let stopped = false

  function reload(): ReloadOutcome {
    const outcome = readAgain()
    onReload(outcome)
    return outcome
  }

  function readAgain(): ReloadOutcome {
    // Taken before reading: what changes meanwhile is found by the next look.
    const before = fingerprint(paths)
    try {
      const loaded = load(current)
      const isSame = loaded.digest === current.digest
      current = loaded
      follow(loaded.files, before)
      return isSame ? { kind: 'unchanged' } : { kind: 'changed', loaded }
    } catch (error) {
      const refusal = isServiceError(error)
        ? error
        : new ServiceError('INTERNAL', 'the configuration could not be read again', {}, error)
      const named = Array.isArray(refusal.details.files) ? (refusal.details.files as string[]) : []
      follow([...new Set([...current.files, ...named])], before)
      return { kind: 'refused', error: refusal }
    }
  }

  function follow(next: readonly string[], before: Fingerprint): void {
    paths = next
    seen = new Map(next.map((path) => [path, before.get(path) ?? fileMark(path)]))
    openWatchers()
  }

  function openWatchers(): void {
    const next = new Map<string, FSWatcher>()
    for (const directory of new Set([...paths.map(dirname), ...paths.filter(isDirectory)])) {
      const watcher = watchers.get(directory) ?? openWatcher(directory)
      if (watcher !== undefined) next.set(directory, watcher)
    }
    for (const [directory, watcher] of watchers) if (!next.has(directory)) watcher.close()
    watchers = next
  }

  function openWatcher(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: false }, lookSoon)
      watcher.on('error', () => {
        // The directory went away; polling notices when it comes back.
        watcher.close()
        watchers.delete(directory)
        lookSoon()
      })
      return watcher
    } catch {
      // No watcher left, or not supported here: polling remains.
      return undefined
    }
  }

  function lookSoon(): void {
    if (stopped) return
    cancelLook ??= timers.after(settleMs, () => {
      cancelLook = undefined
      look()
    })
  }

  function poll(): void {
    cancelPoll = timers.after(pollMs, () => {
      openWatchers()
      look()
      if (!stopped) poll()
    })
  }

  function look(): void {
    if (!stopped && !isSameFingerprint(seen, fingerprint(paths))) reload()
  }

  openWatchers()
  poll()
  return {
    current: () => current,
    reload,
    stop() {
      stopped = true
      cancelLook?.()
      cancelPoll?.()
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

type Fingerprint = ReadonlyMap<string, string>

/** What would change if somebody wrote, replaced or removed a file, or put one into a directory. */
function fingerprint(paths: readonly string[]): Map<string, string> {
  return new Map(paths.map((path) => [path, fileMark(path)]))
}

function fileMark(path: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

function isSameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return a.size === b.size && [...a].every(([path, mark]) => b.get(path) === mark)
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
