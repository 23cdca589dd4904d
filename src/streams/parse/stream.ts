import type { Metadata, ParseHints } from '../metadata.ts'
import { metalOf, readArchitectures } from './architectures.ts'
import { type Field, isAbsent, member, optionalText, optionalTime } from './field.ts'
import { readMetalFormats } from './metal-formats.ts'
import { releaseName } from './release-name.ts'

/**
 * A stream document of FCOS, RHCOS or SCOS of any age (facts §2): `pxe` or `installer-pxe`, with or without rootfs,
 * signatures and `metadata`. The release is the one of platform `metal`, each architecture has its own.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseStream(document: Field, hints: ParseHints): Metadata {
  const label = optionalText(member(document, 'stream'))
  const lastModified = readLastModified(document)
  const entries = readArchitectures(document, (arch, entry, problems) => {
    const metal = metalOf(member(entry, 'artifacts'))
    const release = releaseName(member(metal, 'release'))
    const formats = member(metal, 'formats')
    return readMetalFormats({ arch, release, formats, base: hints.baseUrl, problems })
  })
  return {
    format: 'stream',
    ...(label === undefined ? {} : { label }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...entries,
  }
}

/** `metadata.last-modified`; one real document has no `metadata` at all. */
export function readLastModified(document: Field): number | undefined {
  const metadata = member(document, 'metadata')
  return isAbsent(metadata) ? undefined : optionalTime(member(metadata, 'last-modified'))
}
