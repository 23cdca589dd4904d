import type { Artifact } from '../core/artifact.ts'
import type { FetchRequest } from './fetcher.ts'

/** The admin's headers were given for the document's own server, and go nowhere else. */
export function ownHeaders(
  { location }: Pick<Artifact, 'location'>,
  url: string,
  headers: FetchRequest['headers'],
): Record<string, string> {
  if (headers === undefined || !URL.canParse(url) || !URL.canParse(location)) return {}
  const { origin } = new URL(url)
  return origin !== 'null' && origin === new URL(location).origin ? { ...headers } : {}
}
