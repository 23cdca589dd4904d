import { type ConfigMapSourceOptions, createConfigMapSource } from './config-map-source.ts'
import {
  createDirectorySource,
  createFileSource,
  type DirectorySourceOptions,
  type FileSourceOptions,
} from './file-source.ts'
import type { MetadataSource } from './source.ts'
import { createUrlSource, type UrlSourceOptions } from './url-source.ts'

export type SourceOptions =
  | UrlSourceOptions
  | FileSourceOptions
  | DirectorySourceOptions
  | ConfigMapSourceOptions

/** @throws ServiceError CONFIG_INVALID for a directory's document name that is none */
export function createSource(options: SourceOptions): MetadataSource {
  switch (options.kind) {
    case 'url':
      return createUrlSource(options)
    case 'file':
      return createFileSource(options)
    case 'directory':
      return createDirectorySource(options)
    case 'config-map':
      return createConfigMapSource(options)
  }
}
