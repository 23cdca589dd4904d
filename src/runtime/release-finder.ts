import type { StreamConfig } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { FoundRelease } from '../rollout/pin-resolver.ts'
import type { WantedPin } from '../rollout/wanted-pins.ts'
import type { StateStore } from '../state/store.ts'
import type { DocumentArchive } from '../streams/document-archive.ts'
import { findRelease } from '../streams/find-release.ts'
import type { StreamSet } from './stream-set.ts'

/** Finds releases that are no longer current, as the stream's configuration says; what is found is archived first. */
export function createReleaseFinder(options: {
  readonly store: Pick<StateStore, 'listDocuments'>
  readonly archive: DocumentArchive
  readonly streamOf: (name: string) => StreamConfig | undefined
  readonly streams: () => Pick<StreamSet, 'client' | 'baseUrlOf'>
  readonly clock: Clock
}): (pin: WantedPin) => Promise<FoundRelease> {
  const { store, archive, clock } = options
  return async function find(pin) {
    const stream = options.streamOf(pin.stream)
    if (stream === undefined) return { kind: 'not-found', reason: `stream ${pin.stream} is not configured` }
    const { hints, releaseIndex } = stream.source
    const streams = options.streams()
    const sourceBaseUrl = streams.baseUrlOf(pin.stream)
    const finding = await findRelease(pin, {
      documents: await store.listDocuments({ stream: pin.stream }),
      archive,
      hints,
      ...(sourceBaseUrl === undefined ? {} : { sourceBaseUrl }),
      ...(releaseIndex === undefined ? {} : { index: { url: releaseIndex, client: streams.client() } }),
    })
    if (finding.kind === 'not-found') return finding
    const { bytes, digest, format, label, source } = finding.document
    await archive.write(bytes)
    const now = clock.now()
    const document = { digest, stream: pin.stream, format, source, label, sizeBytes: bytes.byteLength }
    return {
      kind: 'found',
      bootimage: finding.bootimage,
      document: { ...document, firstSeenAt: now, lastSeenAt: now },
    }
  }
}
