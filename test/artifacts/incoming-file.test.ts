import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prepareLayout } from '../../src/artifacts/create-blob-store.ts'
import type { OpenFile } from '../../src/artifacts/file-system.ts'
import { IncomingFile } from '../../src/artifacts/incoming-file.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createUnsyncedFs, type FsOperation, fsError, type UnsyncedFs } from '../fakes/unsynced-fs.ts'

const layout = layoutOf('/data')
const path = layout.incomingFile('0'.repeat(64) as Sha256, 'a1')

async function openFs(before: (operation: FsOperation) => void = () => {}): Promise<UnsyncedFs> {
  const fs = createUnsyncedFs({ before })
  await prepareLayout(fs, layout)
  return fs
}

function digestOf(...chunks: readonly Uint8Array[]): Sha256 {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex') as Sha256
}

describe('an incoming file', () => {
  it('has the same bytes and digest however they came and whatever the block size', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 1, max: 64 }), async (parts, blockBytes) => {
        const fs = await openFs()
        const incoming = await IncomingFile.create({ fs, layout, path, blockBytes })
        for (const part of parts) await incoming.append(part)
        expect(incoming.sizeBytes).toBe(Buffer.concat(parts).length)
        const stored = await incoming.commit(digestOf(...parts))
        expect(stored.kind).toBe('stored')
        expect(
          fs
            .files()
            .get(layout.blob(digestOf(...parts)))
            ?.equals(Buffer.concat(parts)),
        ).toBe(true)
      }),
    )
  })

  it('that is kept and resumed at any point ends with the same digest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 300 }), async (bytes, at) => {
        const fs = await openFs()
        const first = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
        await first.append(bytes.subarray(0, at))
        await first.keep()
        const second = await IncomingFile.resume({ fs, layout, path, blockBytes: 16 })
        expect(second.sizeBytes).toBe(Math.min(at, bytes.length))
        await second.append(bytes.subarray(at))
        expect(await second.commit(digestOf(bytes))).toMatchObject({ kind: 'stored' })
      }),
    )
  })

  it('G1 with another digest than expected gets no name in the store', async () => {
    const fs = await openFs()
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
    await incoming.append(Buffer.from('hello'))
    const other = digestOf(Buffer.from('other'))
    expect(await incoming.commit(other)).toEqual({ kind: 'mismatch', found: digestOf(Buffer.from('hello')) })
    expect([...fs.files().keys()]).toEqual([path])
    await incoming.discard()
    expect([...fs.files().keys()]).toEqual([])
  })

  it('G1 is judged by what is in the file: what somebody else wrote into it meanwhile has another digest', async () => {
    const fs = await openFs()
    const bytes = Buffer.alloc(100, 1)
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
    await incoming.append(bytes)
    const stranger = await fs.openForWrite(path)
    await stranger.write(Buffer.from('x'), 7)
    expect(await incoming.commit(digestOf(bytes))).toMatchObject({ kind: 'mismatch' })
    expect([...fs.files().keys()]).toEqual([path])
  })

  it.each(['rename', 'syncDirectory'] as const)(
    'G1 what somebody writes into it around %s, after it was read, takes its name away again',
    async (moment) => {
      let stranger: OpenFile | undefined
      let time = 0
      const fs = createUnsyncedFs({
        now: () => ++time,
        before({ kind }) {
          if (kind === moment) void stranger?.write(Buffer.from('x'), 7)
        },
      })
      await prepareLayout(fs, layout)
      const bytes = Buffer.alloc(100, 1)
      const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
      await incoming.append(bytes)
      stranger = await fs.openForWrite(path)
      await expect(incoming.commit(digestOf(bytes))).rejects.toMatchObject({
        code: 'STORAGE_FAILED',
        message: expect.stringContaining('changed while'),
      })
      expect([...fs.files().keys()]).toEqual([])
    },
  )

  it('G1 another file that took its name in the last moment gets none in the store', async () => {
    const other = `${path}.other`
    let rename: (() => void) | undefined
    const fs = await openFs(({ kind, path: from }) => {
      if (kind === 'rename' && from === path) rename?.()
    })
    const bytes = Buffer.alloc(100, 1)
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
    await incoming.append(bytes)
    await fs.create(other)
    rename = () => {
      rename = undefined
      void fs.rename(other, path)
    }
    await expect(incoming.commit(digestOf(bytes))).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect([...fs.files().keys()].filter((name) => name.startsWith(layout.blobs))).toEqual([])
  })

  it('G7 a sync that failed once is not forgotten, though the next one says that all is well', async () => {
    let syncs = 0
    const fs = await openFs(({ kind }) => {
      if (kind !== 'sync') return
      syncs += 1
      if (syncs === 1) throw fsError('EIO', path)
    })
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
    const bytes = Buffer.alloc(16 * 100, 1)
    const work = incoming.append(bytes).then(() => incoming.commit(digestOf(bytes)))
    await expect(work).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('syncing'),
    })
    expect([...fs.files().keys()]).toEqual([path])
  })

  it('a failed write is told at the next chunk or at the end, never lost', async () => {
    const fs = await openFs(({ kind }) => {
      if (kind === 'write') throw fsError('EIO', path)
    })
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 16 })
    await incoming.append(Buffer.alloc(16))
    await expect(incoming.commit(undefined)).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    await incoming.discard()
    await incoming.discard()
    await incoming.keep()
    expect([...fs.files().keys()]).toEqual([])
  })
})
