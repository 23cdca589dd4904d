import { type ArtifactFetcher, createFetcher } from '../artifacts/create-fetcher.ts'
import type { FetchEvent } from '../artifacts/fetcher.ts'
import type { UpstreamOptions } from '../upstream/client.ts'

/** A fetcher that a reload can give another way out; what is on its way ends on the old one. */
export interface SwappableFetcher extends ArtifactFetcher {
  configure(upstream: UpstreamOptions): Promise<void>
}

export function createSwappableFetcher(options: {
  readonly dataDirectory: string
  readonly onEvent: (event: FetchEvent) => void
  /** Of the trace of whatever wants a file, at the moment it does. */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
}): SwappableFetcher {
  const { dataDirectory, onEvent, traceHeaders } = options
  let current: { readonly key: string; readonly fetcher: ArtifactFetcher } | undefined

  function fetcher(): ArtifactFetcher {
    if (current === undefined) throw new Error('the fetcher is not configured yet')
    return current.fetcher
  }

  return {
    async configure(upstream) {
      const key = JSON.stringify(upstream)
      if (current?.key === key) return
      const previous = current
      current = { key, fetcher: createFetcher({ dataDirectory, onEvent, upstream, trustedKeys: [] }) }
      // Its downloads fail and are tried again on the new one, resuming where they were.
      await previous?.fetcher.stop()
    },
    fetch(request, signal) {
      const headers = { ...request.headers, ...traceHeaders?.() }
      const traced = Object.keys(headers).length === 0 ? request : { ...request, headers }
      return fetcher().fetch(traced, signal)
    },
    hash: (sha256, settings) => fetcher().hash(sha256, settings),
    stop: async () => current?.fetcher.stop(),
  }
}
