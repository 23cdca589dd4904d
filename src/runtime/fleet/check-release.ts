import { suggestion } from '../../config/suggest.ts'
import type { Timers } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { compareReleases } from '../../core/release.ts'
import type { Ledger } from '../../rollout/ledger.ts'
import type { FoundRelease } from '../../rollout/pin-resolver.ts'
import type { WantedPin } from '../../rollout/wanted-pins.ts'
import type { PinFiles } from './pin-files.ts'
import type { PinUse } from './pin-uses.ts'
import type { ReleaseList } from './release-list.ts'

/** An admin waits for the answer. */
const longestSearchMs = 10_000
const shownReleases = 5

export interface ReleaseCheckOptions {
  readonly files: PinFiles
  readonly ledger: Pick<Ledger, 'bootimages'>
  /** Looks in archived documents and in the stream's release index. */
  readonly findRelease: (pin: WantedPin) => Promise<FoundRelease>
  readonly listReleases: ReleaseList
  /** Whether a document of the stream was ever read: before that nothing can be said of its releases. */
  readonly wasRead: (stream: string) => boolean
  readonly timers: Timers
}

type Finding =
  | { readonly kind: 'there' }
  /** It may be there: whoever knows could not be asked. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent'; readonly use: PinUse; readonly reason: string }

/**
 * Whether a release can be had for every machine that would be pinned to it (G5). One that nobody could be asked for is
 * let through: it is looked for again and again.
 * @throws ServiceError USAGE with the releases that are known, when it can never be had
 */
export async function checkRelease(
  release: string,
  uses: readonly PinUse[],
  options: ReleaseCheckOptions,
): Promise<void> {
  const findings = await Promise.all(uses.map((use) => find(use, release, options)))
  const absent = findings.filter((finding) => finding.kind === 'absent')
  const fatal = absent.length === findings.length ? absent : absent.filter(({ use }) => use.isCertain)
  const [first] = fatal
  if (first === undefined) return
  const { stream, arch } = first.use
  const others =
    fatal.length === findings.length || fatal.length === 0
      ? ''
      : `; other architectures have it: pin each with its own release (${arch} is one)`
  throw new ServiceError('USAGE', `${release} of ${stream} cannot be had for ${arch}: ${first.reason}`, {
    field: 'release',
    hint: `${await knownReleases(release, first.use, options)}${others}`,
  })
}

async function find(use: PinUse, release: string, options: ReleaseCheckOptions): Promise<Finding> {
  const { stream, arch } = use
  if (options.files.recordOf({ stream, arch, release }) !== undefined) return { kind: 'there' }
  const found = await withinTime(options.findRelease({ stream, arch, release }), options.timers)
  if (found === undefined) return { kind: 'unknown' }
  if (found.kind === 'found') return { kind: 'there' }
  const mayBeThere = found.isUpstreamSilent === true || !options.wasRead(stream)
  return mayBeThere ? { kind: 'unknown' } : { kind: 'absent', use, reason: found.reason }
}

function withinTime<T>(answer: Promise<T>, timers: Timers): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(longestSearchMs, () => resolve(undefined))
    answer.then(resolve, reject).finally(cancel)
  })
}

async function knownReleases(
  release: string,
  { stream, arch }: PinUse,
  { ledger, listReleases }: ReleaseCheckOptions,
): Promise<string> {
  const known = new Set(await listReleases(stream))
  for (const { bootimage } of ledger.bootimages.values()) {
    if (bootimage.stream === stream && bootimage.arch === arch) known.add(bootimage.release)
  }
  const meant = suggestion(release, known)
  if (meant !== undefined) return meant
  if (known.size === 0)
    return 'no release of it is known here: pilotlight import takes a document that names one'
  const newest = newestFirst(known).slice(0, shownReleases)
  const more = known.size > newest.length ? ` and ${known.size - newest.length} more` : ''
  return `known here: ${newest.join(', ')}${more}`
}

/** As far as they can be compared; others stand where they are. */
export function newestFirst(releases: Iterable<string>): readonly string[] {
  return [...releases].sort((a, b) => {
    const order = compareReleases(b, a)
    return order === 'incomparable' ? 0 : order
  })
}
