import { parseArch } from '../../core/arch.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { MetadataFormat } from '../metadata.ts'
import { type Field, invalidField, isObject, listNames } from './field.ts'

const anyFormat =
  'a stream document (architectures), rhcos.json (baseURI, images), meta.json (buildid, images), ' +
  'a release index (releases) or a coreos-bootimages ConfigMap'

/**
 * Tells the format by what a document holds, never by what its file is called.
 *
 * @throws ServiceError METADATA_INVALID that says what the document seems to be and what would have been metadata
 */
export function recogniseFormat(document: Field): MetadataFormat {
  const { value } = document
  if (!isObject(value)) throw invalidField(document, anyFormat)
  const has = (name: string) => Object.hasOwn(value, name)
  if (value.kind === 'ConfigMap' || isConfigMapData(value)) return 'configmap'
  if (has('architectures')) return isRelease(value) ? 'release' : 'stream'
  if (has('releases')) {
    if (isRollout(value.releases)) throw invalidField(document, anyFormat, 'rollout metadata (updates)')
    return 'release-index'
  }
  if (has('baseURI')) return 'rhcos'
  if (has('images') || has('buildid')) return 'cosa-meta'
  throw notMetadata(document, value)
}

function isConfigMapData({ data }: Readonly<Record<string, unknown>>): boolean {
  return isObject(data) && (Object.hasOwn(data, 'stream') || Object.hasOwn(data, 'streams'))
}

/** A release.json says its release once, at the top, and calls its platforms `media`. */
function isRelease(value: Readonly<Record<string, unknown>>): boolean {
  if (Object.hasOwn(value, 'release')) return true
  const { architectures } = value
  return (
    isObject(architectures) && Object.values(architectures).some((arch) => isObject(arch) && 'media' in arch)
  )
}

/** The update service's documents have the same keys; there a release's `metadata` is an object, not a URL. */
function isRollout(releases: unknown): boolean {
  return Array.isArray(releases) && releases.some((entry) => isObject(entry) && isObject(entry.metadata))
}

function notMetadata(document: Field, value: Readonly<Record<string, unknown>>): ServiceError {
  const names = Object.keys(value)
  if (names.length > 0 && names.every((name) => parseArch(name) !== undefined))
    return invalidField(document, anyFormat, 'architectures at top level (marketplace data?)')
  return invalidField(document, anyFormat, `an object with ${listNames(names)}`)
}
