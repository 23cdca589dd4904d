import type { Metadata, ParseHints } from '../metadata.ts'
import { metalOf, readArchitectures } from './architectures.ts'
import { type Field, member, optionalText } from './field.ts'
import { readMetalFormats } from './metal-formats.ts'
import { releaseName } from './release-name.ts'
import { readLastModified } from './stream.ts'

/**
 * A release.json (facts §5): like a stream, but `media`/`artifacts` where that has `artifacts`/`formats`, and one
 * release for the whole document.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseReleaseDocument(document: Field, hints: ParseHints): Metadata {
  const release = releaseName(member(document, 'release'))
  const label = optionalText(member(document, 'stream'))
  const lastModified = readLastModified(document)
  const entries = readArchitectures(document, (arch, entry, problems) => {
    const formats = member(metalOf(member(entry, 'media')), 'artifacts')
    return readMetalFormats({ arch, release, formats, base: hints.baseUrl, problems })
  })
  return {
    format: 'release',
    ...(label === undefined ? {} : { label }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...entries,
  }
}
