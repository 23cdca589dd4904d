/**
 * Every failure that somebody must look at has a stable code, once, here.
 * The text is for people, the code for programs; frontends translate codes into statuses and exit codes.
 */
export const errorTexts = {
  CONFIG_INVALID: 'the configuration is not valid',
  CONFIG_UNREADABLE: 'the configuration cannot be read',
  DATA_DIRECTORY_LOCKED: 'another process owns the data directory',
  DATA_DIRECTORY_UNUSABLE: 'the data directory cannot be used',
  STATE_NEWER_VERSION: 'the state database was written by a newer version',
  STATE_UNAVAILABLE: 'the state store does not answer',
  LISTEN_FAILED: 'a listener could not be opened',
  METADATA_INVALID: 'the document is not usable metadata',
  METADATA_UNAVAILABLE: 'the metadata could not be fetched',
  UPSTREAM_UNREACHABLE: 'nothing answered',
  UPSTREAM_REFUSED: 'an upstream address is not allowed',
  UPSTREAM_STALLED: 'an upstream answer stopped making progress',
  ARTIFACT_DIGEST_MISMATCH: 'the bytes do not have the expected SHA-256',
  ARTIFACT_EMPTY: 'the file has no bytes',
  ARTIFACT_TRUNCATED: 'the file ended before its announced length',
  ARTIFACT_TOO_LONG: 'the file is longer than announced',
  ARTIFACT_UNAVAILABLE: 'no location delivered the artifact',
  SIGNATURE_MISSING: 'the signature is not there',
  SIGNATURE_INVALID: 'the signature is not good',
  SIGNATURE_KEY_EXPIRED: 'the signing key has expired',
  SPACE_INSUFFICIENT: 'the data directory has too little free space',
  STORAGE_FAILED: 'the data directory could not be read or written',
  TEMPLATE_INVALID: 'a template cannot be used',
  TEMPLATE_RENDER_FAILED: 'a script could not be rendered',
  KERNEL_ARGUMENT_INVALID: 'a kernel argument cannot be written in this dialect',
  NOT_FOUND: 'there is no such thing',
  CONFLICT: 'it does not go together with what there is',
  REVISION_DIFFERS: 'it was changed by somebody else meanwhile',
  UNAUTHENTICATED: 'a credential is missing or does not count',
  RATE_LIMITED: 'there were too many attempts',
  BACKUP_INVALID: 'the file is no usable backup',
  USAGE: 'the command line is not understood',
  PERMISSION_DENIED: 'a permission is missing',
  FORBIDDEN: 'this is not allowed from here',
  SERVICE_UNAVAILABLE: 'the running service does not answer',
  INTERNAL: 'something unexpected went wrong inside',
} as const

export type ErrorCode = keyof typeof errorTexts

/** An error with a stable code and the facts a reader needs; `message` names the thing and the step. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message?: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message ?? errorTexts[code], cause === undefined ? undefined : { cause })
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }
}

export function isServiceError(error: unknown, code?: ErrorCode): error is ServiceError {
  return error instanceof ServiceError && (code === undefined || error.code === code)
}
