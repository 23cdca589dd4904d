import { ServiceError } from '../core/errors.ts'

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/**
 * The service's word for a failed file operation: a full disk is told apart, since an admin can do something about it.
 * @param step what was being done, as in `<step> <path>`
 */
export function storageError(step: string, path: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException
  const details = { step, path, code }
  if (fullCodes.has(code)) {
    return new ServiceError('SPACE_INSUFFICIENT', `${step} ${path}: no space left (${code})`, details, cause)
  }
  const text = cause instanceof Error ? cause.message : String(cause)
  return new ServiceError('STORAGE_FAILED', `${step} ${path}: ${text}`, details, cause)
}

/** Runs a file operation and gives its failure the service's words. @throws ServiceError STORAGE_FAILED, SPACE_INSUFFICIENT */
export async function storing<T>(step: string, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw storageError(step, path, error)
  }
}
