import { type Command, InvalidArgumentError } from 'commander'
import type { ChangeOptions } from '../../http/admin/fleet-operations.ts'
import type { Session } from '../session.ts'

/** Options that every change takes. */
export interface ChangeFlags {
  readonly dryRun: boolean
  readonly reason?: string
  readonly ifRevision?: number
}

export function addChangeOptions(command: Command): Command {
  return command
    .option('--reason <text>', 'why; kept with it and in the audit list')
    .option('--dry-run', 'check everything and change nothing', false)
}

/** For what has a revision: a record of a host, group or profile. */
export function addRevisionOption(command: Command): Command {
  return command.option(
    '--if-revision <number>',
    'only if it is still this revision; 0: only if there is none yet',
    readRevision,
  )
}

export function addUntilOption(command: Command, description: string): Command {
  return command.option('--until <time>', `${description}: 2026-12-31, 2026-12-31T18:00:00Z or 48h`)
}

/** How a change is made: by whom, and whether at all. */
export function changeOf(
  { context }: Session,
  { dryRun, ifRevision }: Pick<ChangeFlags, 'dryRun' | 'ifRevision'>,
): ChangeOptions {
  return {
    actor: { by: context.userName, via: 'control' },
    ...(dryRun && { dryRun }),
    ...(ifRevision !== undefined && { ifRevision }),
  }
}

/** Of a change without a body. */
export function changeWithReason(
  session: Session,
  flags: ChangeFlags,
): ChangeOptions & { readonly reason?: string } {
  return { ...changeOf(session, flags), ...reasonField(flags) }
}

export function reasonField({ reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason }
}

/** What a person is told after a change that has no other answer. */
export function sayDone(session: Session, { dryRun }: Pick<ChangeFlags, 'dryRun'>, done: string): void {
  session.print({ json: { dryRun, done }, text: () => `${dryRun ? `${dryRunMark}: ` : ''}${done}\n` })
}

export const dryRunMark = 'dry run, nothing was changed'

function readRevision(text: string): number {
  const revision = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(revision)) return revision
  throw new InvalidArgumentError('a revision is a number, as host show tells it')
}
