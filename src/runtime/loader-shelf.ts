import type { LoaderCatalogue, LoaderSource } from '../core/loader.ts'
import type { Log } from '../core/log.ts'
import { type LoaderDirectories, readLoaderCatalogue } from '../loaders/loader-catalogue.ts'

/** The loaders that are served now; read again with the configuration. */
export interface LoaderShelf extends LoaderSource {
  configure(directories: LoaderDirectories): void
}

/** Reads the loaders and says once what of them cannot be served. */
export function createLoaderShelf(options: {
  readonly directories: LoaderDirectories
  readonly log: Log
}): LoaderShelf {
  const { log } = options
  let catalogue: LoaderCatalogue

  function read(directories: LoaderDirectories): LoaderCatalogue {
    const found = readLoaderCatalogue(directories)
    for (const { name, path, reason } of found.refused) log.warn({ name, path, reason }, 'loader not served')
    for (const { name, problems } of found.sets.values()) {
      if (problems.length > 0) log.warn({ set: name, problems }, 'loader set cannot boot')
    }
    return found
  }

  catalogue = read(options.directories)
  return {
    current: () => catalogue,
    configure(directories) {
      catalogue = read(directories)
    },
  }
}
