import type { Metadata, ParseHints } from '../metadata.ts'
import { type Field, invalidField, isAbsent, member, members } from './field.ts'
import { parseJson } from './json.ts'
import { parseStream } from './stream.ts'

/**
 * The `coreos-bootimages` ConfigMap (facts §6): stream documents as JSON inside strings. `data.streams` (OpenShift
 * 4.22 and later) stands above `data.stream`. A stream that was asked for by name is never replaced by another one
 * that happens to be there: that could be another RHEL major.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseConfigMap(document: Field, hints: ParseHints): Metadata {
  const kind = member(document, 'kind')
  // A manifest that was cut off after `data` must not pass for a whole one.
  if (kind.value !== 'ConfigMap') throw invalidField(kind, '"ConfigMap"')
  const data = member(document, 'data')
  const inner = chooseStream(member(data, 'streams'), member(data, 'stream'), hints.configMapStream)
  return { ...parseStream(inner, hints), format: 'configmap' }
}

function chooseStream(streams: Field, stream: Field, wanted: string | undefined): Field {
  if (isAbsent(streams)) return embedded(stream)
  const documents = members(embedded(streams))
  const named = documents.find(([name]) => name === wanted)
  if (named !== undefined) return named[1]
  if (wanted !== undefined) throw invalidField(streams, `a stream "${wanted}"`, listed(documents))
  const [only] = documents
  if (only !== undefined && documents.length === 1) return only[1]
  if (isAbsent(stream))
    throw invalidField(streams, 'one stream, or the name of one in the configuration', listed(documents))
  return embedded(stream)
}

function embedded(field: Field): Field {
  if (typeof field.value !== 'string') throw invalidField(field, 'a stream document as text')
  return { path: field.path, value: parseJson(field.value, field.path) }
}

function listed(documents: readonly (readonly [string, Field])[]): string {
  const names = documents.slice(0, 8).map(([, { path }]) => path)
  return names.length === 0 ? 'none' : names.join(', ')
}
