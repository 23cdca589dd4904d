import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Timers } from '../../core/clock.ts'

export interface WatchPathsOptions {
  readonly paths: readonly string[]
  readonly timers: Timers
  readonly onChange: () => void
  /** For file systems that tell nothing (network mounts). */
  readonly pollMs?: number
  /** Editors and copies write in several steps: wait until they have been quiet for this long. */
  readonly settleMs?: number
}

/**
 * Calls `onChange` after one of the files changed, came or went. The directories are watched, because a file that is
 * replaced by a rename, or a mounted ConfigMap whose link is turned round, is no longer the file that was watched.
 */
export function watchPaths(options: WatchPathsOptions): () => void {
  const { paths, timers, onChange, pollMs = 10_000, settleMs = 250 } = options
  let known: string | undefined
  let isStopped = false
  let cancelSettling: (() => void) | undefined
  let cancelPoll: (() => void) | undefined

  async function look(): Promise<void> {
    const now = (await Promise.all(paths.map(fingerprint))).join('\n')
    if (isStopped) return
    const isNews = known !== undefined && known !== now
    known = now
    if (isNews) onChange()
  }

  function settle(): void {
    cancelSettling?.()
    cancelSettling = timers.after(settleMs, () => void look())
  }

  function poll(): void {
    cancelPoll = timers.after(pollMs, () => void look().finally(() => isStopped || poll()))
  }

  const watchers = [...new Set(paths.map((path) => dirname(path)))].map((directory) =>
    tryWatch(directory, settle),
  )
  void look()
  poll()
  return () => {
    isStopped = true
    cancelSettling?.()
    cancelPoll?.()
    for (const watcher of watchers) watcher?.close()
  }
}

function tryWatch(directory: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent)
    // A directory that goes away ends the watching, not the process; the poll goes on.
    return watcher.on('error', () => watcher.close())
  } catch {
    return undefined
  }
}

async function fingerprint(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch {
    return 'absent'
  }
}
