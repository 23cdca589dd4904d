import { expect, it } from 'vitest'
import { maxDocumentBytes, parseMetadata } from '../../src/streams/parse-document.ts'
import type { MetadataSource } from '../../src/streams/sources/source.ts'
import { bytesOf, streamDocument } from '../fixtures/streams/documents.ts'

export interface SourceUnderTest {
  readonly source: MetadataSource
  /** Makes the place hold these bytes; `undefined`: nothing is there. */
  put(bytes: Uint8Array | undefined): Promise<void>
  dispose(): Promise<void>
}

/** What every metadata source does, wherever its documents are. */
export function metadataSourceContract(open: () => Promise<SourceUnderTest>): void {
  async function withSource(run: (test: SourceUnderTest) => Promise<void>): Promise<void> {
    const test = await open()
    try {
      await run(test)
    } finally {
      await test.source.close()
      await test.source.close()
      await test.dispose()
    }
  }

  it('gives the document, its bytes as they are, and where it came from', () =>
    withSource(async ({ source, put }) => {
      const bytes = bytesOf(streamDocument())
      await put(bytes)
      const answer = await source.fetch({ read: parseMetadata })
      if (answer.kind !== 'document') throw new Error('no document')
      expect(Buffer.from(answer.bytes).equals(bytes)).toBe(true)
      expect(answer.document.architectures.size).toBe(2)
      expect(answer.viaMirror).toBe(false)
      expect(answer.url).not.toBe('')
      expect(source.description).not.toBe('')
    }))

  it('gives the new document after a change', () =>
    withSource(async ({ source, put }) => {
      await put(bytesOf(streamDocument({ release: '43.20260601.3.0' })))
      await source.fetch({ read: parseMetadata })
      await put(bytesOf(streamDocument({ release: '44.20260707.3.1' })))
      const answer = await source.fetch({ read: parseMetadata })
      if (answer.kind !== 'document') throw new Error('no document')
      expect(answer.document.architectures.get('x86_64')?.release).toBe('44.20260707.3.1')
    }))

  it('G4 nothing there is METADATA_UNAVAILABLE, naming the place', () =>
    withSource(async ({ source, put }) => {
      await put(undefined)
      await expect(source.fetch({ read: parseMetadata })).rejects.toMatchObject({
        code: 'METADATA_UNAVAILABLE',
        message: expect.stringMatching(/^\S.*: /),
      })
    }))

  it.each([
    ['zero bytes', new Uint8Array()],
    ['an HTML page', bytesOf('<html>404</html>')],
    ['half a document', bytesOf(streamDocument()).slice(0, 500)],
    ['more than any document has', new Uint8Array(maxDocumentBytes + 1).fill(0x20)],
  ])('G4 %s is METADATA_INVALID, naming the place', (_, bytes) =>
    withSource(async ({ source, put }) => {
      await put(bytes)
      await expect(source.fetch({ read: parseMetadata })).rejects.toMatchObject({
        code: 'METADATA_INVALID',
        details: { place: expect.stringMatching(/./) },
      })
    }),
  )

  it('an aborted fetch ends with the reason', () =>
    withSource(async ({ source, put }) => {
      await put(bytesOf(streamDocument()))
      const reason = new Error('stopped')
      await expect(source.fetch({ read: parseMetadata, signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      )
    }))

  it('the canonical place is where a source without mirrors looks anyway', () =>
    withSource(async ({ source, put }) => {
      await put(bytesOf(streamDocument()))
      expect(source.hasMirrors).toBe(false)
      const answer = await source.fetch({ read: parseMetadata, canonical: true })
      expect(answer).toMatchObject({ kind: 'document', viaMirror: false })
    }))
}
