import type { Arch } from '../../core/arch.ts'
import { effectiveSettings } from '../../core/effective-settings.ts'
import type { FleetOperations } from '../../http/admin/fleet-operations.ts'
import type { PinnableRelease } from '../../http/admin/schemas/fleet.ts'
import type { Ledger } from '../../rollout/ledger.ts'
import { noSuchStream } from '../no-such-name.ts'
import { newestFirst } from './check-release.ts'
import { findHost } from './find-target.ts'
import type { FleetContext } from './fleet-context.ts'
import type { PinFiles } from './pin-files.ts'
import type { ArchitecturesOf } from './pin-uses.ts'
import type { ReleaseList } from './release-list.ts'

/** Of one stream and architecture; an index may list hundreds. */
const mostOffered = 200

/** What can be pinned: what is here, what documents named, what the release index lists; newest first. */
export function createPinnable(
  context: Pick<FleetContext, 'view' | 'clock' | 'streams'> & {
    readonly ledger: Pick<Ledger, 'bootimages' | 'headOf'>
    readonly files: PinFiles
    readonly listReleases: ReleaseList
    readonly architecturesOf: ArchitecturesOf
  },
): FleetOperations['pinnable'] {
  const { view, clock, streams, ledger, files, listReleases, architecturesOf } = context

  function asked({ host: id, stream }: Parameters<FleetOperations['pinnable']>[0]): readonly {
    readonly stream: string
    readonly arches: readonly Arch[]
  }[] {
    const configured = [...streams().keys()]
    if (stream !== undefined && !configured.includes(stream)) throw noSuchStream(stream, configured)
    const { inventory } = view()
    const host = id === undefined ? undefined : findHost(id, inventory)
    const followed =
      host && effectiveSettings({ inventory, host, arch: host.arch, firmware: 'unknown', now: clock.now() })
    const names = [stream ?? followed?.stream?.value].filter((name) => name !== undefined)
    const wanted = names.length > 0 || host !== undefined ? names : configured
    return wanted.map((name) => ({
      stream: name,
      arches: host?.arch === undefined ? architecturesOf(name) : [host.arch],
    }))
  }

  function offer(stream: string, arch: Arch, listed: readonly string[]): readonly PinnableRelease[] {
    const known = [...ledger.bootimages.values()]
      .filter(({ bootimage }) => bootimage.stream === stream && bootimage.arch === arch)
      .map(({ bootimage }) => bootimage.release)
    const isKnown = new Set(known)
    const { current } = ledger.headOf(stream, arch)
    const currentRelease = current && ledger.bootimages.get(current)?.bootimage.release
    return newestFirst(new Set([...known, ...listed]))
      .slice(0, mostOffered)
      .map((release): PinnableRelease => {
        const isCurrent = release === currentRelease
        if (!isKnown.has(release)) {
          return { stream, arch, release, state: 'listed', isCurrent, text: 'listed by the release index' }
        }
        const { state, text } = files.of({ stream, arch, release })
        return { stream, arch, release, state, isCurrent, text }
      })
  }

  return async (query) => {
    const offers: PinnableRelease[] = []
    for (const { stream, arches } of asked(query)) {
      const listed = await listReleases(stream)
      for (const arch of arches) offers.push(...offer(stream, arch, listed))
    }
    return offers
  }
}
