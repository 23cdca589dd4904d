import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Timers } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { readDocumentFile } from './read-file.ts'
import type { MetadataSource } from './source.ts'
import { readAt, unavailable } from './source-error.ts'
import { watchPaths } from './watch-paths.ts'

export interface FileSourceOptions {
  readonly kind: 'file'
  /** Absolute. */
  readonly path: string
  readonly timers: Timers
  readonly pollMs?: number
}

export interface DirectorySourceOptions {
  readonly kind: 'directory'
  /** Absolute; laid out like a stream base URL: `streams/<stream>.json`, or `<stream>.json`. */
  readonly path: string
  /** The document's name without `.json`. */
  readonly stream: string
  readonly timers: Timers
  readonly pollMs?: number
}

/** One document in a file. Relative locations, and those of scheme `file:`, are below the file's directory. */
export function createFileSource({ path, timers, pollMs }: FileSourceOptions): MetadataSource {
  return fileSource({ paths: [path], directory: dirname(path), timers, ...(pollMs && { pollMs }) })
}

/** @throws ServiceError CONFIG_INVALID when `stream` is not a bare name */
export function createDirectorySource(options: DirectorySourceOptions): MetadataSource {
  const { path, stream, timers, pollMs } = options
  const file = `${stream}.json`
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(stream))
    throw new ServiceError('CONFIG_INVALID', `"${stream}" is not the name of a document in ${path}`, {
      stream,
    })
  const paths = [join(path, 'streams', file), join(path, file)]
  return fileSource({ paths, directory: path, timers, ...(pollMs && { pollMs }) })
}

interface FileSourceParts {
  /** The first one that exists counts. */
  readonly paths: readonly string[]
  readonly directory: string
  readonly timers: Timers
  readonly pollMs?: number
}

function fileSource({ paths, directory, timers, pollMs }: FileSourceParts): MetadataSource {
  return {
    description: paths.join(' or '),
    baseUrl: pathToFileURL(`${directory}/`).href,
    hasMirrors: false,
    async fetch({ read, signal }) {
      for (const path of paths) {
        signal?.throwIfAborted()
        const bytes = await readDocumentFile(path)
        if (bytes === undefined) continue
        return { kind: 'document', url: path, viaMirror: false, bytes, document: readAt(path, read, bytes) }
      }
      throw unavailable(paths.join(' and '), 'no such file')
    },
    watch: (onChange) => watchPaths({ paths, timers, onChange, ...(pollMs && { pollMs }) }),
    async close() {},
  }
}
