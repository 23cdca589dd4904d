import type { Command } from 'commander'
import { ServiceError } from '../../core/errors.ts'
import type { PutRecord } from '../../http/admin/schemas/fleet.ts'
import type { Session } from '../session.ts'
import { addSpecOptions, gathered, type SpecOptions, specFrom } from './spec.ts'

/** What is typed most often has an option of its own; everything else goes by `--set`. */
export interface HostFieldOptions extends SpecOptions {
  readonly mac: readonly string[]
  readonly label: readonly string[]
  readonly profile?: string
  readonly arch?: string
}

export function addHostFieldOptions(command: Command): Command {
  return addSpecOptions(
    command
      .option('--mac <address>', 'a MAC address, in any spelling (may be given again)', gathered, [])
      .option('--label <key=value>', 'a label, by which groups select it (may be given again)', gathered, [])
      .option('--profile <name>', 'its profile')
      .option('--arch <arch>', 'its architecture'),
  )
}

/** @throws ServiceError USAGE, CONFIG_INVALID, PERMISSION_DENIED */
export async function hostSpec(
  session: Session,
  before: PutRecord['spec'],
  options: HostFieldOptions,
): Promise<PutRecord['spec']> {
  const spec = await specFrom(session, before, options)
  const { mac, label, profile, arch } = options
  const labels = spec.labels
  return {
    ...spec,
    ...(mac.length > 0 && { macs: mac }),
    ...(label.length > 0 && {
      labels: { ...(typeof labels === 'object' ? labels : {}), ...Object.fromEntries(label.map(labelOf)) },
    }),
    ...(profile !== undefined && { profile }),
    ...(arch !== undefined && { arch }),
  }
}

function labelOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new ServiceError('USAGE', `--label ${text}: there is no key=value in it`, {
    field: 'label',
    hint: 'as in --label site=edge',
  })
}
