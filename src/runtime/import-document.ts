import type { Clock } from '../core/clock.ts'
import type { ImportReport } from '../http/admin/operations.ts'
import { parseMetadata } from '../streams/parse-document.ts'
import { resolveBootimages } from '../streams/resolve.ts'
import { readAt } from '../streams/sources/source-error.ts'
import type { Engine } from './engine.ts'
import { noSuchStream } from './no-such-name.ts'

/**
 * Makes the releases of an admin's document known to a stream, so that hosts can be pinned to them. It changes nothing
 * that is served and moves no stream.
 * @throws ServiceError NOT_FOUND for a stream that is not configured, METADATA_INVALID
 */
export async function importDocument(
  engine: Engine,
  request: { readonly stream: string; readonly name: string; readonly text: string },
  clock: Clock,
): Promise<ImportReport> {
  const { ledger, store, archive } = engine.storage
  const stream = engine.loaded().config.streams.get(request.stream)
  if (stream === undefined) throw noSuchStream(request.stream, [...engine.loaded().config.streams.keys()])
  const bytes = Buffer.from(request.text)
  const metadata = readAt(request.name, (text) => parseMetadata(text, stream.source.hints), bytes)
  const resolution = resolveBootimages(metadata, stream.name)
  const digest = await archive.write(bytes)
  const now = clock.now()
  await store.recordDocument({
    digest,
    stream: stream.name,
    format: metadata.format,
    source: request.name,
    label: metadata.label,
    sizeBytes: bytes.byteLength,
    firstSeenAt: now,
    lastSeenAt: now,
  })
  for (const bootimage of resolution.bootimages) {
    await ledger.addBootimage({ bootimage, document: digest, state: 'known', firstSeenAt: now })
  }
  engine.publish()
  void engine.pins.retry()
  return {
    format: metadata.format,
    stream: stream.name,
    digest,
    releases: resolution.bootimages.map(({ arch, release, kind }) => ({ arch, release, kind })),
    problems: resolution.problems.map(({ arch, message }) => `${arch}: ${message}`),
  }
}
