import type { StreamConfig } from '../../config/config.ts'
import type { Clock, Timers } from '../../core/clock.ts'
import { fetchReleaseIndex } from '../../streams/find-release.ts'
import type { UpstreamClient } from '../../upstream/client.ts'

/** Releases of a stream as its release index lists them; none where it has none or cannot be read now. */
export type ReleaseList = (stream: string) => Promise<readonly string[]>

const keptMs = 5 * 60_000
/** An admin waits for it. */
const longestWaitMs = 5_000

/** Asks the index at most every few minutes, once for all who want to know, and never longer than people wait. */
export function createReleaseList(options: {
  readonly streamOf: (name: string) => StreamConfig | undefined
  readonly client: () => Pick<UpstreamClient, 'request'>
  readonly clock: Clock
  readonly timers: Timers
}): ReleaseList {
  const { streamOf, clock, timers } = options
  const kept = new Map<string, { readonly at: number; readonly releases: Promise<readonly string[]> }>()

  async function ask(url: string): Promise<readonly string[]> {
    const controller = new AbortController()
    const cancel = timers.after(longestWaitMs, () => controller.abort())
    try {
      const index = await fetchReleaseIndex({ url, client: options.client(), signal: controller.signal })
      return index.releases.map(({ version }) => version)
    } catch {
      // Who pins a release by name is told why it cannot be found; a list of offers is shorter without it.
      kept.delete(url)
      return []
    } finally {
      cancel()
    }
  }

  return async (stream) => {
    const url = streamOf(stream)?.source.releaseIndex
    if (url === undefined) return []
    const known = kept.get(url)
    const now = clock.now()
    if (known !== undefined && now - known.at < keptMs && now >= known.at) return known.releases
    const releases = ask(url)
    kept.set(url, { at: now, releases })
    return releases
  }
}
