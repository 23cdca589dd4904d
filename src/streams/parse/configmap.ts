import type { Metadata, ParseHints } from '../metadata.ts'
import { type Field, invalidField, isAbsent, listNames, member, memberNames } from './field.ts'
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
  const documents = embedded(streams)
  const names = memberNames(documents)
  const [only] = names
  if (wanted !== undefined && names.includes(wanted)) return member(documents, wanted)
  if (wanted !== undefined) throw invalidField(streams, `a stream "${wanted}"`, listNames(names))
  if (only !== undefined && names.length === 1) return member(documents, only)
  if (isAbsent(stream))
    throw invalidField(streams, 'one stream, or the name of one in the configuration', listNames(names))
  return embedded(stream)
}

function embedded(field: Field): Field {
  if (typeof field.value !== 'string') throw invalidField(field, 'a stream document as text')
  return { path: field.path, value: parseJson(field.value, field.path) }
}
