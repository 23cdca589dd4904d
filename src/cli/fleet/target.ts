import type { Command } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import type { PinSummary, Target } from '../../http/admin/schemas/fleet.ts'

export interface TargetOptions {
  readonly group?: string
}

export function addGroupOption(command: Command): Command {
  return command.option('--group <name>', 'a group of hosts, instead of one host')
}

/** @throws ServiceError USAGE when nothing says for which machine, or two things do */
export function targetOf(host: string | undefined, { group }: TargetOptions): Target {
  if (host !== undefined && group !== undefined) {
    throw new ServiceError('USAGE', `for host ${host} or for group ${group}? only one of them can be`, {
      hint: 'leave one of them out',
    })
  }
  if (host !== undefined) return { kind: 'host', name: host }
  if (group !== undefined) return { kind: 'group', name: group }
  throw new ServiceError('USAGE', 'for which machine? nothing says so', {
    hint: 'name a host (pilotlight host list has them), or give --group',
  })
}

/** `host rack1-n01`. */
export function targetText({ kind, name }: PinSummary['target']): string {
  return `${kind} ${name}`
}
