import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Mounts a file system in memory with a size of its own; needs root. Returns how to take it away again. */
export async function mountTmpfs(path: string, options: string): Promise<() => void> {
  await mkdir(path, { recursive: true })
  mount(path, options)
  return () => unmount(path)
}

/** Whether this process may mount at all: root in a container often may not. */
export function canMountTmpfs(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'pilotlight-mount-'))
  try {
    mount(path, 'size=64k')
    unmount(path)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(path)
  }
}

function mount(path: string, options: string): void {
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'pipe' })
}

function unmount(path: string): void {
  execFileSync('/bin/umount', [path], { stdio: 'pipe' })
}
