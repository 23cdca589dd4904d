import { type Finding, findingsOf } from './finding.ts'

/** What one look at a stream's metadata brought. */
export interface UpstreamFacts {
  readonly stream: string
  /** For people: without credentials. */
  readonly source: string
  readonly outcome:
    | {
        readonly kind: 'read'
        readonly milliseconds: number
        /** Configured architectures that the document does not have, with the reason. */
        readonly missing: readonly { readonly arch: string; readonly reason: string }[]
        readonly releases: readonly string[]
      }
    | { readonly kind: 'failed'; readonly reason: string }
  /** By the clock of the server, ms since the epoch. */
  readonly serverTime?: number
}

const { ok, warning, problem } = findingsOf('upstream')

const todo =
  'check the network, the proxy (HTTPS_PROXY) and the URL; what is verified already goes on being served'

/** Whether each stream can be read now. @param served streams that have all they need already (G4) */
export function checkUpstream(
  upstreams: readonly UpstreamFacts[],
  served: ReadonlySet<string>,
): readonly Finding[] {
  return upstreams.flatMap(({ stream, source, outcome }) => {
    if (outcome.kind === 'failed') {
      const reason = outcome.reason.replace(`${source}: `, '')
      const what = `${stream}: ${source} cannot be read: ${reason}`
      return [served.has(stream) ? warning(what, todo) : problem(what, todo)]
    }
    const { releases, milliseconds, missing } = outcome
    const found = releases.length === 0 ? 'no bootimage' : releases.join(', ')
    return [
      ok(`${stream}: ${source} says ${found} (${Math.round(milliseconds)} ms)`),
      ...missing.map(({ arch, reason }) =>
        problem(
          `${stream}: nothing for ${arch}: ${reason}`,
          `take ${arch} out of its architectures, or use another source`,
        ),
      ),
    ]
  })
}
