import { ServiceError } from '../../core/errors.ts'
import type { PutRecord } from '../../http/admin/schemas/fleet.ts'
import type { SpecOptions } from './spec.ts'

interface Shown {
  readonly source: 'file' | 'api'
  readonly origin: string
  readonly spec?: PutRecord['spec']
  readonly revision?: number
}

/**
 * The record to change, as it is shown, and the revision that was seen. A secret that is not shown is kept by whoever
 * keeps the record.
 * @throws ServiceError CONFLICT for one that stands in a file
 */
export function changeableSpec(
  what: string,
  { source, origin, spec, revision }: Shown,
  options: Pick<SpecOptions, 'file'>,
): { readonly spec: PutRecord['spec']; readonly revision: number } {
  if (source === 'file' || spec === undefined || revision === undefined) {
    throw new ServiceError('CONFLICT', `${what} stands in a file: ${origin}`, {
      hint: 'change it there; pins, installs and modes can be set here (pilotlight pin, install, hold …)',
    })
  }
  return { spec: options.file === undefined ? spec : {}, revision }
}
