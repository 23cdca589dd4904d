import { execFile } from 'node:child_process'
import { resolve } from 'node:path'

const program = resolve(import.meta.dirname, '../../dist/main.js')

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built program to its end. */
export function runCommand(...argv: readonly string[]): Promise<CommandResult> {
  return new Promise((found) => {
    execFile(
      process.execPath,
      [program, ...argv],
      { env: { PATH: process.env.PATH } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        found({ code, stdout, stderr })
      },
    )
  })
}
