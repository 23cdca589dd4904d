import type { Artifact, ArtifactRole } from '../../core/artifact.ts'
import { parseSha256, type Sha256 } from '../../core/digest.ts'
import { type Field, invalidField, member, text } from './field.ts'
import { buildLocation, fileName, location } from './location.ts'

/** What an artifact is, before its entry in a document is read. */
export interface ArtifactKind {
  readonly role: ArtifactRole
  readonly variant?: string
}

/**
 * An artifact of a stream document or a release.json: `location`, `sha256`, and where known `signature`,
 * `uncompressed-sha256`. An empty signature and a `null` digest mean "none": the writer of release.json leaves them
 * like that (facts §5). A dead signature URL cannot be seen here and is kept as it is.
 */
export function readArtifact(field: Field, kind: ArtifactKind, base: string | undefined): Artifact {
  const url = location(member(field, 'location'), base)
  const signature = member(field, 'signature')
  const isSigned = !isNone(signature)
  return compose(kind, url, field, isSigned ? location(signature, base) : undefined)
}

/** An image of a build document (`rhcos.json`, `meta.json`): `path`, `sha256`, sizes that may be text. */
export function readBuildImage(field: Field, kind: ArtifactKind, directory: string): Artifact {
  return compose(kind, buildLocation(member(field, 'path'), directory), field, undefined)
}

function compose(kind: ArtifactKind, url: string, field: Field, signature: string | undefined): Artifact {
  const sizeBytes = size(member(field, 'size'))
  const uncompressed = member(field, 'uncompressed-sha256')
  return {
    ...kind,
    name: fileName(url, kind.variant ?? kind.role),
    sha256: sha256(member(field, 'sha256')),
    location: url,
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(isNone(uncompressed) ? {} : { uncompressedSha256: sha256(uncompressed) }),
    ...(signature === undefined ? {} : { signature }),
  }
}

function isNone({ value }: Field): boolean {
  return value === undefined || value === null || value === ''
}

function sha256(field: Field): Sha256 {
  const digest = parseSha256(text(field, '64 hex digits'))
  if (digest === undefined) throw invalidField(field, '64 hex digits')
  return digest
}

/** Bytes as a number, or as text in 4.1 documents (facts §3). */
function size(field: Field): number | undefined {
  const { value } = field
  if (isNone(field)) return undefined
  const bytes = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes <= 0)
    throw invalidField(field, 'a number of bytes')
  return bytes
}
