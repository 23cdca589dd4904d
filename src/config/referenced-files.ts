import type { ConfigPath } from './config-path.ts'
import type { RawConfig } from './schema.ts'

/** A file whose content the configuration needs. */
export interface ReferencedFile {
  readonly path: ConfigPath
  /** As written. */
  readonly file: string
  readonly what: 'key file' | 'certificate file' | 'header file'
}

/** All files that must be read before the configuration is complete. */
export function referencedFiles(raw: RawConfig): readonly ReferencedFile[] {
  const files: ReferencedFile[] = keyFiles(raw.keys, ['keys'])
  const { ca } = raw.upstream
  if (ca !== undefined) files.push({ path: ['upstream', 'ca'], file: ca, what: 'certificate file' })
  for (const [name, { keys, source }] of Object.entries(raw.streams)) {
    files.push(...keyFiles(keys ?? [], ['streams', name, 'keys']))
    for (const [header, value] of Object.entries(source.headers ?? {})) {
      if (typeof value === 'string' || value.file === undefined) continue
      files.push({
        path: ['streams', name, 'source', 'headers', header, 'file'],
        file: value.file,
        what: 'header file',
      })
    }
  }
  return files
}

function keyFiles(files: readonly string[], path: ConfigPath): ReferencedFile[] {
  return files.map((file, index) => ({ path: [...path, index], file, what: 'key file' }))
}
