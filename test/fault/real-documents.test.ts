import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { architectures } from '../../src/core/arch.ts'
import { isServiceError } from '../../src/core/errors.ts'
import type { StreamSummary } from '../../src/http/admin/operations.ts'
import { parseMetadata } from '../../src/streams/parse-document.ts'
import { resolveBootimages } from '../../src/streams/resolve.ts'
import { type RunningService, startRunningService } from '../fakes/running-service.ts'
import { eventually } from '../fakes/service-process.ts'
import { haveRealDocuments, readRealDocument, realDocumentNames } from '../fixtures/streams/real-documents.ts'

const folder = resolve(import.meta.dirname, '../../../shared/metadata')
const hints = { baseUrl: 'http://builds.example/', arch: 'x86_64' } as const
const streamOf = (index: number) => `document-${index}`

/** `<arch> <release>` of everything that a document resolves to, or why it is none. */
function readingOf(name: string): readonly string[] | string {
  try {
    const { bootimages } = resolveBootimages(parseMetadata(readRealDocument(name), hints), 'x')
    return bootimages.map(({ arch, release }) => `${arch} ${release}`).sort()
  } catch (error) {
    if (isServiceError(error, 'METADATA_INVALID')) return error.message
    throw error
  }
}

describe.skipIf(!haveRealDocuments)('every real document as the source of a running service', () => {
  let service: RunningService
  let streams: ReadonlyMap<string, StreamSummary>

  beforeAll(async () => {
    const entries = realDocumentNames.map((name, index) => [
      streamOf(index),
      { source: { file: resolve(folder, name), ...hints }, architectures: [...architectures], refresh: '1h' },
    ])
    service = await startRunningService({
      // Nothing of what they name is fetched from outside: whatever leaves goes to a port that nobody listens on.
      config: { streams: Object.fromEntries(entries), upstream: { proxy: 'http://127.0.0.1:9' } },
    })
    const all = await eventually(
      () => service.streams(),
      (found) =>
        found.every(({ lastSuccessAt, error }) => lastSuccessAt !== undefined || error !== undefined),
    )
    streams = new Map(all.map((stream) => [stream.name, stream]))
  }, 60_000)
  afterAll(() => service?.remove())

  it.each(realDocumentNames.map((name, index) => ({ name, index })))(
    '$name: what it resolved to is said, or why nothing',
    ({ name, index }) => {
      const stream = streams.get(streamOf(index))
      const reading = readingOf(name)
      if (typeof reading === 'string') {
        expect(stream?.error).toMatchObject({
          code: 'METADATA_INVALID',
          message: expect.stringContaining(reading),
        })
        return
      }
      expect(stream?.error).toBeUndefined()
      const targets = stream?.architectures
        .filter(({ target }) => target !== undefined)
        .map(({ arch, target }) => `${arch} ${target?.release}`)
      expect(targets?.sort()).toEqual(reading)
      for (const { target, lastChange } of stream?.architectures ?? []) {
        expect([target === undefined, lastChange]).toEqual([
          target === undefined,
          target === undefined ? expect.stringMatching(/^(withdrawn|partial)$/) : 'first',
        ])
      }
    },
  )

  it('says for each stream why it is not ready, is alive, and stops in time', async () => {
    const { status, parts } = await service.readiness()
    expect(status).toBe(503)
    for (const index of realDocumentNames.keys()) {
      const part = parts.find((candidate) => candidate.part === `stream:${streamOf(index)}`)
      expect(part?.ready).toBe(false)
      expect(part?.reason).toMatch(/\S{3}/)
    }
    expect(service.log().filter(({ level }) => level === 'error')).toEqual([])
    await service.kill('SIGTERM')
    expect(service.process().child.exitCode).toBe(0)
  })
})
