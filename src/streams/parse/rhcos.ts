import { parseArch } from '../../core/arch.ts'
import type { Metadata, ParseHints } from '../metadata.ts'
import { archFromImages, readBuildImages } from './build-images.ts'
import { type Field, invalidField, member } from './field.ts'
import { directoryUrl } from './location.ts'
import { releaseName } from './release-name.ts'

/**
 * RHCOS metadata from before stream documents (4.1 to 4.8, facts §3): one architecture per file, images by name
 * under `baseURI`. The architecture is the last segment of `baseURI` from 4.3 on; before that the configuration
 * says it, or the image names and the release do.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseRhcos(document: Field, hints: ParseHints): Metadata {
  const baseUri = member(document, 'baseURI')
  const directory = directoryUrl(baseUri, hints.baseUrl)
  const release = releaseName(member(document, 'buildid'))
  const images = member(document, 'images')
  const lastSegment = new URL(directory).pathname.split('/').at(-2) ?? ''
  const arch = parseArch(lastSegment) ?? hints.arch ?? archFromImages(images, release)
  if (arch === undefined)
    throw invalidField(baseUri, 'a URL that ends in an architecture, or an architecture in the configuration')
  return { format: 'rhcos', ...readBuildImages({ arch, release, images, directory }) }
}
