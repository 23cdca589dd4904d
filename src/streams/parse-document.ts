import { ServiceError } from '../core/errors.ts'
import type { Metadata, ParseHints, ReleaseIndex } from './metadata.ts'
import { parseConfigMap } from './parse/configmap.ts'
import { parseCosaMeta } from './parse/cosa-meta.ts'
import { documentField, type Field } from './parse/field.ts'
import { parseJson } from './parse/json.ts'
import { recogniseFormat } from './parse/recognise.ts'
import { parseReleaseDocument } from './parse/release.ts'
import { parseReleaseIndex } from './parse/release-index.ts'
import { parseRhcos } from './parse/rhcos.ts'
import { parseStream } from './parse/stream.ts'
import { parseYaml } from './parse/yaml.ts'

/** The newest real documents have about 60 KiB, a ConfigMap 150 KiB. */
export const maxDocumentBytes = 32 * 1024 * 1024

/**
 * Reads any metadata document (DESIGN §5), recognising its format from its content. Hostile input is the normal
 * case here: whatever the bytes are, they become metadata or one kind of error.
 *
 * @throws ServiceError METADATA_INVALID; the message names the field, what was found and what was expected
 */
export function parseDocument(bytes: Uint8Array, hints: ParseHints = {}): Metadata | ReleaseIndex {
  const text = decode(bytes)
  const document = documentField(parseText(text))
  return parsers[recogniseFormat(document)](document, hints)
}

/**
 * `parseDocument` where only a document that names artifacts will do.
 *
 * @throws ServiceError METADATA_INVALID, also for a release index
 */
export function parseMetadata(bytes: Uint8Array, hints: ParseHints = {}): Metadata {
  const parsed = parseDocument(bytes, hints)
  if (parsed.format !== 'release-index') return parsed
  const found = 'a release index, which names releases but no artifacts'
  const expected = 'a document that names artifacts'
  throw new ServiceError('METADATA_INVALID', `the document is ${found}; expected ${expected}`, {
    field: 'releases',
    found,
    expected,
  })
}

const parsers = {
  stream: parseStream,
  rhcos: parseRhcos,
  'cosa-meta': parseCosaMeta,
  release: parseReleaseDocument,
  'release-index': parseReleaseIndex,
  configmap: parseConfigMap,
} satisfies Record<string, (document: Field, hints: ParseHints) => Metadata | ReleaseIndex>

function decode(bytes: Uint8Array): string {
  if (bytes.length === 0) throw notADocument('empty: zero bytes')
  if (bytes.length > maxDocumentBytes)
    throw notADocument(`too long: ${bytes.length} bytes, more than ${maxDocumentBytes}`)
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw notADocument('gzip-compressed')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw notADocument('not UTF-8 text', cause)
  }
}

function parseText(text: string): unknown {
  const start = text.trimStart()
  if (start === '') throw notADocument('empty: nothing but white space')
  if (start.startsWith('<')) {
    const isHtml = /^<(?:!doctype html|html)/i.test(start)
    throw notADocument(isHtml ? 'an HTML page' : 'XML or HTML')
  }
  // Only manifests come as YAML, and they have these keys at the start of a line.
  const isManifest = !/^[{["]/.test(start) && /^(?:apiVersion|data|kind):/m.test(text)
  return isManifest ? parseYaml(text) : parseJson(text, '')
}

function notADocument(found: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'METADATA_INVALID',
    `the document is ${found}; expected JSON, or a ConfigMap in YAML`,
    { field: '', found, expected: 'JSON, or a ConfigMap in YAML' },
    cause,
  )
}
