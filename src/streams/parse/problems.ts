import type { Arch } from '../../core/arch.ts'
import { isServiceError } from '../../core/errors.ts'
import type { MetadataProblem } from '../metadata.ts'

/** Reads one architecture's part; what is invalid there is noted and leaves the other architectures alone. */
export function readOrNote<T>(arch: Arch, problems: MetadataProblem[], read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!isServiceError(error, 'METADATA_INVALID')) throw error
    problems.push({ arch, field: String(error.details.field), message: error.message })
    return undefined
  }
}
