import type { ParseHints, ReleaseIndex } from '../metadata.ts'
import { elements, type Field, invalidField, member, optionalText } from './field.ts'
import { location } from './location.ts'
import { releaseName } from './release-name.ts'

const maxEntries = 10_000

/**
 * A release index, `releases.json` (facts §5): every release of a stream with the URL of its release.json.
 * The rollout documents of the update service look alike; there `metadata` is an object.
 *
 * @throws ServiceError METADATA_INVALID
 */
export function parseReleaseIndex(document: Field, hints: ParseHints): ReleaseIndex {
  const label = optionalText(member(document, 'stream'))
  const field = member(document, 'releases')
  const entries = elements(field, maxEntries)
  if (entries.length === 0) throw invalidField(field, 'releases, each with version and metadata', 'none')
  return {
    format: 'release-index',
    ...(label === undefined ? {} : { label }),
    releases: entries.map((entry) => ({
      version: releaseName(member(entry, 'version')),
      metadata: location(member(entry, 'metadata'), hints.baseUrl),
    })),
  }
}
