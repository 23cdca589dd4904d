import { dirname } from 'node:path'
import type { FileStat, FileSystem } from './file-system.ts'

/**
 * Replaces a small file as a whole: after a crash it is the old one or the new one, and after the promise the new one.
 * One writer per path at a time. Returns what the file is like afterwards.
 */
export async function writeDurably(fs: FileSystem, path: string, bytes: Uint8Array): Promise<FileStat> {
  const unfinished = `${path}.new`
  await fs.remove(unfinished)
  const file = await fs.create(unfinished)
  try {
    await file.write(bytes, 0)
    await file.sync()
    await fs.rename(unfinished, path)
    await fs.syncDirectory(dirname(path))
    return await file.stat()
  } finally {
    await file.close()
  }
}
