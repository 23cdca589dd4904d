import { isServiceError, type ServiceError } from '../../core/errors.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { displayUrl, withoutLogin } from '../../upstream/display-url.ts'
import { answerFrom } from './fetch-document.ts'
import type { MetadataSource } from './source.ts'
import { allFailed } from './source-error.ts'

export interface UrlSourceOptions {
  readonly kind: 'url'
  /** The canonical place. */
  readonly url: string
  /** Copies of the same document, by its whole URL; tried first, in this order. */
  readonly mirrors?: readonly string[]
  /** Shared with others, so it is not closed here. */
  readonly client: Pick<UpstreamClient, 'request'>
}

/** A document over http(s): the first location that gives a readable one is believed. */
export function createUrlSource({ url, mirrors = [], client }: UrlSourceOptions): MetadataSource {
  return {
    description: displayUrl(url),
    // meta.json names files that lie beside it (facts §4).
    baseUrl: withoutLogin(new URL('.', url)),
    hasMirrors: mirrors.length > 0,
    async fetch(request) {
      const failures: ServiceError[] = []
      for (const location of request.canonical === true ? [url] : [...mirrors, url]) {
        try {
          return await answerFrom({ client, url: location, viaMirror: location !== url }, request)
        } catch (error) {
          request.signal?.throwIfAborted()
          if (!isServiceError(error)) throw error
          failures.push(error)
        }
      }
      throw allFailed(failures)
    },
    async close() {},
  }
}
