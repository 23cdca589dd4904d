import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openBlobStore } from '../../src/artifacts/create-blob-store.ts'
import { nodeFileSystem } from '../../src/artifacts/file-system.ts'
import { IncomingFile } from '../../src/artifacts/incoming-file.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { describeBlobStore } from '../contracts/blob-store.ts'
import { createMemoryBlobStore } from '../fakes/memory-blob-store.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'
import { createUnsyncedFs } from '../fakes/unsynced-fs.ts'

const temporary: TemporaryDirectory[] = []
afterEach(async () => {
  for (const directory of temporary.splice(0)) await directory.remove()
})

const fs = nodeFileSystem
const clock = { now: () => Date.parse('2026-11-29T12:00:00Z') }

async function openReal() {
  const directory = await makeTemporaryDirectory()
  temporary.push(directory)
  const layout = layoutOf(directory.path)
  const store = await openBlobStore({ fs, layout, clock })
  let count = 0
  async function put(bytes: Uint8Array): Promise<Sha256> {
    count += 1
    const path = layout.incomingFile('0'.repeat(64) as Sha256, `put${count}`)
    const incoming = await IncomingFile.create({ fs, layout, path, blockBytes: 1024 })
    await incoming.append(bytes)
    const stored = await incoming.commit(undefined)
    if (stored.kind !== 'stored') throw new Error('not stored')
    return stored.blob.sha256
  }
  return { layout, store, put }
}

describeBlobStore('a directory', openReal)
describeBlobStore('memory', async () => {
  const store = createMemoryBlobStore()
  return { store, put: async (bytes) => store.put(bytes) }
})

describe('the directory', () => {
  it('has the files that the map draws, read-only', async () => {
    const { layout, store, put } = await openReal()
    const sha256 = await put(Buffer.from('hello'))
    const path = join(layout.dataDirectory, 'artifacts/sha256', sha256.slice(0, 2), sha256)
    expect((await store.stat(sha256))?.path).toBe(path)
    expect((await stat(path)).mode & 0o777).toBe(0o444)
    expect(await readdir(layout.incoming)).toEqual([])
    expect(store.signaturePath(sha256)).toBe(
      join(layout.dataDirectory, 'artifacts/signatures', `${sha256}.sig`),
    )
  })

  it('keeps a quarantined blob with its reason and without its signature', async () => {
    const { layout, store, put } = await openReal()
    const sha256 = await put(Buffer.from('hello'))
    await writeFile(store.signaturePath(sha256), 'signature')
    await store.quarantine(sha256, 'it smells')
    expect(await readFile(layout.quarantined(sha256), 'utf8')).toBe('hello')
    expect(JSON.parse(await readFile(layout.quarantineReason(sha256), 'utf8'))).toEqual({
      sha256,
      reason: 'it smells',
      at: '2026-11-29T12:00:00.000Z',
    })
    expect(await readdir(layout.signatures)).toEqual([])
  })

  it('removes the signature with the blob', async () => {
    const { layout, store, put } = await openReal()
    const sha256 = await put(Buffer.from('hello'))
    await writeFile(store.signaturePath(sha256), 'signature')
    await store.remove(sha256)
    expect(await readdir(layout.signatures)).toEqual([])
  })

  it('answers for regular files alone: links and directories are no blobs', async () => {
    const { layout, store, put } = await openReal()
    const target = await put(Buffer.from('hello'))
    const link = 'ab'.repeat(32) as Sha256
    const directory = 'cd'.repeat(32) as Sha256
    await mkdir(layout.shard(link), { recursive: true })
    await symlink(layout.blob(target), layout.blob(link))
    await mkdir(layout.blob(directory), { recursive: true })
    expect(await store.stat(link)).toBeUndefined()
    expect(await store.stat(directory)).toBeUndefined()
    await store.quarantine(link, 'a link')
    const listed: string[] = []
    for await (const { sha256 } of store.list()) listed.push(sha256)
    expect(listed).toEqual([target])
  })

  it('passes over names that are not digests or lie in the wrong shard', async () => {
    const { layout, store } = await openReal()
    await mkdir(join(layout.blobs, 'ab'))
    await mkdir(join(layout.blobs, 'not-a-shard'))
    await writeFile(join(layout.blobs, 'ab', 'README'), 'x')
    await writeFile(join(layout.blobs, 'ab', `ba${'00'.repeat(31)}`), 'x')
    await writeFile(join(layout.blobs, 'ab', `AB${'00'.repeat(31)}`), 'x')
    const listed: string[] = []
    for await (const { sha256 } of store.list()) listed.push(sha256)
    expect(listed).toEqual([])
  })
})

describe('opening', () => {
  const sha256 = 'ab'.repeat(32) as Sha256
  const layout = layoutOf('/data')
  const day = 24 * 60 * 60 * 1000
  const note = JSON.stringify({ url: 'http://mirror.example/f', validator: '"v1"' })

  async function startWith(files: Readonly<Record<string, string>>, writtenAt = 0) {
    const memory = createUnsyncedFs({ now: () => writtenAt })
    await memory.makeDirectory(layout.incoming)
    for (const [name, text] of Object.entries(files)) {
      const file = await memory.create(join(layout.incoming, name))
      await file.write(Buffer.from(text), 0)
    }
    return memory
  }

  it('G7 keeps an unfinished download that can be continued', async () => {
    const memory = await startWith({ [`${sha256}.a1`]: 'half', [`${sha256}.a1.resume`]: note })
    await openBlobStore({ fs: memory, layout, clock: { now: () => day - 1 } })
    expect([...memory.files().keys()]).toHaveLength(2)
  })

  it.each([
    ['without a note', { [`${sha256}.a1`]: 'half' }, 0],
    ['with a torn note', { [`${sha256}.a1`]: 'half', [`${sha256}.a1.resume`]: note.slice(0, 20) }, 0],
    ['with a note full of zeros', { [`${sha256}.a1`]: 'half', [`${sha256}.a1.resume`]: '\0\0\0\0' }, 0],
    [
      'whose validator would break a header',
      { [`${sha256}.a1`]: 'half', [`${sha256}.a1.resume`]: note.replace('"v1', '"v\\n1') },
      0,
    ],
    ['with nothing in it', { [`${sha256}.a1`]: '', [`${sha256}.a1.resume`]: note }, 0],
    ['that is older than a day', { [`${sha256}.a1`]: 'half', [`${sha256}.a1.resume`]: note }, day + 1],
    ['that is a note alone', { [`${sha256}.a1.resume`]: note }, 0],
    ['that is not ours', { 'core.1234': 'x', [`${sha256}`]: 'x' }, 0],
  ])('G7 clears away an unfinished download %s', async (_what, files, now) => {
    const memory = await startWith(files)
    await openBlobStore({ fs: memory, layout, clock: { now: () => now } })
    expect([...memory.files().keys()]).toEqual([])
  })

  it('a directory that cannot be made is a storage failure naming it', async () => {
    const failing = createUnsyncedFs({
      before({ kind, path }) {
        if (kind === 'makeDirectory' && path === layout.blobs) {
          throw Object.assign(new Error('read-only file system'), { code: 'EROFS' })
        }
      },
    })
    await expect(openBlobStore({ fs: failing, layout, clock })).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: 'creating /data/artifacts/sha256: read-only file system',
    })
  })
})
