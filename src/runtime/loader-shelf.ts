import type { Clock } from '../core/clock.ts'
import type { LoaderCatalogue, LoaderSource } from '../core/loader.ts'
import type { Log } from '../core/log.ts'
import { type LoaderDirectories, readLoaderCatalogue } from '../loaders/loader-catalogue.ts'

/** The loaders that are served now; read again with the configuration. */
export interface LoaderShelf extends LoaderSource {
  configure(directories: LoaderDirectories): void
  /** Reads the same directories again, because a file is not as it was: a package was updated. */
  refresh(): void
}

/** Whoever asks for a loader that is not as it was makes us look, but not more often than this. */
const refreshEveryMs = 5_000

/** Reads the loaders and says once what of them cannot be served. */
export function createLoaderShelf(options: {
  readonly directories: LoaderDirectories
  readonly clock: Clock
  readonly log: Log
  /** They were read again. */
  readonly onRead?: () => void
}): LoaderShelf {
  const { clock, log, onRead } = options
  let directories = options.directories
  let refreshedAt = Number.NEGATIVE_INFINITY

  function read(): LoaderCatalogue {
    const found = readLoaderCatalogue(directories)
    for (const { name, path, reason } of found.refused) log.warn({ name, path, reason }, 'loader not served')
    for (const { name, problems } of found.sets.values()) {
      if (problems.length > 0) log.warn({ set: name, problems }, 'loader set cannot boot')
    }
    return found
  }

  let catalogue = read()
  return {
    current: () => catalogue,
    configure(next) {
      directories = next
      catalogue = read()
      onRead?.()
    },
    refresh() {
      const now = clock.now()
      if (Math.abs(now - refreshedAt) < refreshEveryMs) return
      refreshedAt = now
      catalogue = read()
      onRead?.()
    },
  }
}
