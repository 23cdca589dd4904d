import { basename, dirname, sep } from 'node:path'

export interface ProgramCall {
  /** Absolute path of the script that runs (`process.argv[1]`). */
  readonly script: string
  /** `PATH`. */
  readonly searchPath: string
}

/**
 * How to call this program again, from whatever directory: `pilotlight` where a shell finds it, else by its path.
 * The folder that npm puts in front of `PATH` for its scripts is in nobody else's.
 */
export function programName({ script, searchPath }: ProgramCall): string {
  if (basename(script) === 'main.js') return `node ${shellWord(script)}`
  const directory = dirname(script)
  const isFound = searchPath.split(':').includes(directory)
  const isOfNpm = directory.endsWith(`${sep}node_modules${sep}.bin`)
  return isFound && !isOfNpm ? basename(script) : shellWord(script)
}

/** A word as a POSIX shell reads it back. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
