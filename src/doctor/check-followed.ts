import { type Finding, findingsOf } from './finding.ts'

/** What a running service says of a stream that it follows. */
export interface FollowedFacts {
  readonly name: string
  /** For people: without credentials. */
  readonly source: string
  /** ISO 8601. */
  readonly lastSuccessAt?: string
  readonly failingSince?: string
  readonly error?: string
  readonly architectures: readonly {
    readonly arch: string
    readonly current?: string
    /** What is not followed, and what it waits for. */
    readonly held?: string
    /** The current bootimage is not whole. */
    readonly damaged?: string
    /** The document has nothing usable for it. */
    readonly problem?: string
  }[]
}

const { ok, note, warning, problem } = findingsOf('upstream')
const todo =
  'check the network, the proxy (HTTPS_PROXY) and the URL; what is verified already goes on being served'

/** Without a stream there is nothing to boot. @param names of the configuration */
export function checkAnyStream(names: readonly string[]): readonly Finding[] {
  if (names.length > 0) return []
  return [
    problem(
      'no stream is followed, so there is nothing to boot',
      'name one below streams: in pilotlight.yaml, for example fcos-stable: { source: { url: https://builds.coreos.fedoraproject.org/streams/stable.json } }',
    ),
  ]
}

/** How the streams of a running service are doing, as it says itself: nothing is fetched. */
export function checkFollowed(streams: readonly FollowedFacts[]): readonly Finding[] {
  return streams.flatMap((stream) => [
    readingOf(stream),
    ...stream.architectures.flatMap(({ arch, held, damaged, problem: trouble }) => [
      ...(damaged === undefined
        ? []
        : [
            warning(
              `${stream.name} ${arch}: ${damaged}`,
              'it is fetched again by itself; see: pilotlight bootimages',
            ),
          ]),
      ...(held === undefined
        ? []
        : [note(`${stream.name} ${arch}: ${held}`, 'see what a refresh would do: pilotlight streams')]),
      ...(trouble === undefined
        ? []
        : [
            problem(
              `${stream.name} ${arch}: ${trouble}`,
              `use another source, or take ${arch} out of its architectures`,
            ),
          ]),
    ]),
  ])
}

function readingOf({
  name,
  source,
  lastSuccessAt,
  failingSince,
  error,
  architectures,
}: FollowedFacts): Finding {
  if (failingSince === undefined) {
    return ok(
      lastSuccessAt === undefined
        ? `${name}: ${source} has not been read yet`
        : `${name}: ${source} was read at ${lastSuccessAt}`,
    )
  }
  const what = `${name}: cannot be read since ${failingSince}: ${error ?? source}`
  return architectures.every(({ current }) => current !== undefined)
    ? warning(what, todo)
    : problem(what, todo)
}
