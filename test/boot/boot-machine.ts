import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BootReport } from './boot-report.ts'

export const firmwares = [
  'bios-pxe',
  'bios-pxe-plain',
  'uefi-pxe',
  'uefi-http',
  'uefi-ipxe',
  'uefi-pxe-secure',
  'uefi-http-secure',
  'arm64-uefi-pxe',
  'arm64-uefi-http',
] as const
export type Firmware = (typeof firmwares)[number]

export interface BootOptions {
  readonly firmware: Firmware
  /** Where logs, capture and report are left. */
  readonly out: string
  /** The shell command of the service. */
  readonly server: string
  /** Succeeds when the machine may be switched on. */
  readonly ready: string
  /** Further options of `rig/boot`. */
  readonly options?: readonly string[]
  /** For all of it; a machine that falls silent is given up long before. */
  readonly timeoutSeconds?: number
}

const program = resolve(import.meta.dirname, 'rig/boot')

/** Boots one machine in a network of its own. @throws Error when the rig itself could not run */
export async function bootMachine(boot: BootOptions): Promise<BootReport> {
  const timeout = String(boot.timeoutSeconds ?? 600)
  const child = spawn(
    program,
    [
      ...['--firmware', boot.firmware, '--out', boot.out, '--timeout', timeout],
      ...['--server', boot.server, '--ready', boot.ready],
      ...(boot.options ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const status = await new Promise<number | null>((done, failed) => {
    child.once('error', failed)
    child.once('close', done)
  })
  if (status !== 0 && status !== 1) throw new Error(`rig/boot ended with ${status}:\n${said}`)
  return JSON.parse(readFileSync(join(boot.out, 'report.json'), 'utf8')) as BootReport
}
