import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readTextFile } from './read-text-file.ts'

/** What the templates directory holds, as far as a change of it matters: `<directory>/<dialect>/<file>`. */
export interface TemplateFiles {
  /** Absolute paths, folders too. */
  readonly paths: readonly string[]
  /** Path and text of each file; what is wrong with them is for the renderer to say. */
  readonly texts: readonly (readonly [string, string])[]
}

const maxFiles = 1000
const maxBytes = 1024 * 1024

/** Reads an admin's templates, to notice when they change. Throws what `readdir` throws for the directory itself. */
export function readTemplateFiles(directory: string): TemplateFiles {
  const folders = visibleNames(directory).map((name) => join(directory, name))
  const files = folders
    .flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    .slice(0, maxFiles)
  const texts = files.map((path) => {
    const found = readTextFile(path, maxBytes)
    return [path, 'text' in found ? found.text : found.problem] as const
  })
  return { paths: [directory, ...folders, ...files], texts }
}

function namesIn(folder: string): readonly string[] {
  try {
    return visibleNames(folder)
  } catch {
    // Not a folder, or not readable: nothing in it can change what is served.
    return []
  }
}

/** Names with a dot in front are editors' and Kubernetes' own. */
function visibleNames(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort()
}
