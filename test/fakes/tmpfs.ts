import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'

/** Mounts a file system in memory with a size of its own; needs root. Returns how to take it away again. */
export async function mountTmpfs(path: string, options: string): Promise<() => void> {
  await mkdir(path, { recursive: true })
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  return () => void execFileSync('/bin/umount', [path])
}
