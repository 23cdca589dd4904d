import { type Arch, parseArch } from '../../core/arch.ts'
import type { Metadata, ParseHints } from '../metadata.ts'
import { archFromImages, readBuildImages } from './build-images.ts'
import { documentField, type Field, invalidField, isAbsent, member, optionalTime, text } from './field.ts'
import { directoryUrl } from './location.ts'
import { releaseName } from './release-name.ts'

/**
 * coreos-assembler's build record, `meta.json` (facts §4). It names files only: where they lie is the directory it
 * was fetched from, or what the configuration says.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseCosaMeta(document: Field, hints: ParseHints): Metadata {
  const release = releaseName(member(document, 'buildid'))
  const images = member(document, 'images')
  const arch = readArch(document, images, release, hints)
  const lastModified = optionalTime(member(document, 'coreos-assembler.build-timestamp'))
  if (hints.baseUrl === undefined)
    throw invalidField(
      member(document, 'baseURI'),
      'it here, or a base URL in the configuration: the document names files without a place',
    )
  const directory = directoryUrl(documentField(hints.baseUrl), hints.baseUrl)
  return {
    format: 'cosa-meta',
    ...(lastModified === undefined ? {} : { lastModified }),
    ...readBuildImages({ arch, release, images, directory }),
  }
}

function readArch(document: Field, images: Field, release: string, hints: ParseHints): Arch {
  const field = member(document, 'coreos-assembler.basearch')
  if (!isAbsent(field)) {
    const arch = parseArch(text(field, 'an architecture'))
    if (arch === undefined) throw invalidField(field, 'x86_64, aarch64, ppc64le or s390x')
    return arch
  }
  const arch = hints.arch ?? archFromImages(images, release)
  if (arch === undefined) throw invalidField(field, 'an architecture, here or in the configuration')
  return arch
}
