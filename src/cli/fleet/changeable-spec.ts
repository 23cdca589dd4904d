import { ServiceError } from '../../core/errors.ts'
import type { PutRecord } from '../../http/admin/schemas/fleet.ts'
import type { SpecOptions } from './spec.ts'

interface Shown {
  readonly source: 'file' | 'api'
  readonly origin: string
  readonly spec?: PutRecord['spec']
  readonly revision?: number
}

/** What stands for a secret that is not shown. */
const hidden = '(hidden)'

/**
 * The record to change and the revision that was seen.
 * @throws ServiceError CONFLICT for one that stands in a file, USAGE when it holds a secret that the change would lose
 */
export function changeableSpec(
  what: string,
  { source, origin, spec, revision }: Shown,
  options: Pick<SpecOptions, 'file' | 'set' | 'unset'>,
): { readonly spec: PutRecord['spec']; readonly revision: number } {
  if (source === 'file' || spec === undefined || revision === undefined) {
    throw new ServiceError('CONFLICT', `${what} stands in a file: ${origin}`, {
      hint: 'change it there; pins, installs and modes can be set here (pilotlight pin, install, hold …)',
    })
  }
  if (options.file !== undefined) return { spec: {}, revision }
  const secret = Object.keys(spec).find((key) => JSON.stringify(spec[key]).includes(`"${hidden}"`))
  if (secret !== undefined && !isNamed(secret, options)) {
    throw new ServiceError(
      'USAGE',
      `${what} holds a secret in ${secret}, which is not shown and would be lost`,
      {
        field: secret,
        hint: `give the whole record with --file (pilotlight host export has it), or the field anew with --set ${secret}=…`,
      },
    )
  }
  return { spec, revision }
}

function isNamed(key: string, { set, unset }: Pick<SpecOptions, 'set' | 'unset'>): boolean {
  return unset.includes(key) || set.some((text) => text.startsWith(`${key}=`))
}
