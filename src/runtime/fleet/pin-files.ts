import type { Arch } from '../../core/arch.ts'
import type { BootimageSummary } from '../../http/admin/operations.ts'
import type { PinFile } from '../../http/admin/schemas/fleet.ts'
import type { Ledger } from '../../rollout/ledger.ts'
import type { PinResolver } from '../../rollout/pin-resolver.ts'
import type { BootimageRecord } from '../../state/store.ts'

export interface PinnedRelease {
  readonly stream: string
  readonly arch: Arch
  readonly release: string
}

/** Whether pinned releases can be booted, and how far they are. */
export interface PinFiles {
  of(pin: PinnedRelease): PinFile
  /** The bootimage that the pin means: the one it is fixed to, else one that a document here names. */
  recordOf(pin: PinnedRelease): BootimageRecord | undefined
}

export function createPinFiles(options: {
  readonly ledger: Pick<Ledger, 'bootimages' | 'pinOf'>
  readonly pins: Pick<PinResolver, 'unresolved'>
  readonly summaryOf: (record: BootimageRecord) => BootimageSummary
}): PinFiles {
  const { ledger, pins, summaryOf } = options

  function recordOf({ stream, arch, release }: PinnedRelease): BootimageRecord | undefined {
    const fixed = ledger.pinOf(stream, arch, release)
    const record = fixed && ledger.bootimages.get(fixed.bootimage)
    if (record !== undefined) return record
    for (const candidate of ledger.bootimages.values()) {
      const { bootimage } = candidate
      if (bootimage.stream === stream && bootimage.arch === arch && bootimage.release === release) {
        return candidate
      }
    }
    return undefined
  }

  return {
    recordOf,
    of(pin) {
      const { stream, arch, release } = pin
      const record = recordOf(pin)
      if (record !== undefined) return { arch, ...stateOf(summaryOf(record)) }
      const why = pins.unresolved().get(`${stream}/${arch}/${release}`)
      return why === undefined
        ? { arch, state: 'queued', text: `${release} of ${stream} is looked for` }
        : { arch, state: 'unresolvable', text: `unresolvable yet: ${why}; it is looked for again` }
    },
  }
}

function stateOf(summary: BootimageSummary): Omit<PinFile, 'arch'> {
  const { state, failure, doneBytes, totalBytes, bytesPerSecond } = summary
  const progress = { doneBytes, totalBytes, bytesPerSecond }
  switch (state) {
    case 'ready':
      return { state }
    case 'known':
    case 'queued':
      return { state: 'queued', ...progress }
    case 'failed':
    case 'pending-signature':
      return { state: 'failed', text: failure?.message, ...progress }
    case 'held':
      return {
        state,
        text: 'its document was not followed, so it is not fetched; see the change policies of its stream',
      }
    default:
      return { state: 'fetching', ...progress }
  }
}
