import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeFileSystem } from '../../src/artifacts/file-system.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { silentLog } from '../../src/core/log.ts'
import {
  type ArchiveFileSystem,
  type DocumentArchive,
  openDocumentArchive,
} from '../../src/streams/document-archive.ts'
import { maxDocumentBytes } from '../../src/streams/parse-document.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'
import {
  createUnsyncedFs,
  fsError,
  type Survival,
  type UnsyncedFs,
  type UnsyncedFsOptions,
} from '../fakes/unsynced-fs.ts'
import { bytesOf, streamDocument } from '../fixtures/streams/documents.ts'

const directory = '/data/metadata'
const june = bytesOf(streamDocument({ release: '43.20260601.3.0' }))
const july = bytesOf(streamDocument({ release: '44.20260707.3.1' }))

function digestOf(bytes: Uint8Array): Sha256 {
  return createHash('sha256').update(bytes).digest('hex') as Sha256
}

function openOn(fs: ArchiveFileSystem, log = silentLog): Promise<DocumentArchive> {
  return openDocumentArchive({ directory, fs, log })
}

describe('the archive on a real file system', () => {
  let folder: TemporaryDirectory
  let archive: DocumentArchive
  let path: string
  const log = createRecordingLog()

  beforeEach(async () => {
    folder = await makeTemporaryDirectory()
    path = join(folder.path, 'metadata')
    archive = await openDocumentArchive({ directory: path, fs: nodeFileSystem, log })
    log.lines.length = 0
  })

  afterEach(() => folder.remove())

  it('keeps documents under their digest and gives them back as they were', async () => {
    const digest = await archive.write(july)
    expect(digest).toBe(digestOf(july))
    expect(Buffer.from((await archive.read(digest)) ?? []).equals(july)).toBe(true)
    expect((await readFile(join(path, `${digest}.json`))).equals(july)).toBe(true)
    expect(await archive.list()).toEqual([digest])
  })

  it('does not have what it never got', async () => {
    expect(await archive.read(digestOf(june))).toBeUndefined()
    expect(await archive.list()).toEqual([])
    expect(log.lines).toEqual([])
  })

  it('takes the same document many times, also at once', async () => {
    const digests = await Promise.all([archive.write(july), archive.write(july), archive.write(june)])
    await archive.write(july)
    expect(new Set(digests)).toEqual(new Set([digestOf(july), digestOf(june)]))
    expect((await readdir(path)).sort()).toEqual([`${digestOf(july)}.json`, `${digestOf(june)}.json`].sort())
  })

  it('G8 a damaged document is not given out, is reported, and is written anew when it comes again', async () => {
    const digest = await archive.write(july)
    await writeFile(join(path, `${digest}.json`), july.slice(0, 100))
    expect(await archive.read(digest)).toBeUndefined()
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'archived document is damaged' }])
    await archive.write(july)
    expect(await archive.read(digest)).toBeDefined()
  })

  it('a file that is far too long is damaged, and is not read', async () => {
    const digest = await archive.write(july)
    await writeFile(join(path, `${digest}.json`), new Uint8Array(maxDocumentBytes + 1))
    expect(await archive.read(digest)).toBeUndefined()
  })

  it('ignores what does not belong there', async () => {
    await writeFile(join(path, 'notes.txt'), 'x')
    await mkdir(join(path, `${digestOf(july)}.json`))
    await symlink('/etc/hostname', join(path, `${digestOf(june)}.json`))
    expect((await archive.list()).length).toBe(2)
    await expect(archive.read(digestOf(june))).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect(await archive.read(digestOf(july))).toBeUndefined()
  })

  it('a folder that cannot be made is said at the start', async () => {
    await writeFile(join(folder.path, 'file'), 'x')
    const below = join(folder.path, 'file', 'metadata')
    await expect(openDocumentArchive({ directory: below, fs: nodeFileSystem, log })).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining(below),
    })
  })
})

class Killed extends Error {}

/** A file system on which the data directory is there for good. */
async function withDataDirectory(options: UnsyncedFsOptions = {}): Promise<UnsyncedFs> {
  const fs = createUnsyncedFs()
  await fs.makeDirectory('/data')
  await fs.syncDirectory('/')
  return fs.afterCrash('everything', options)
}

/** A start of the service that archives two documents; what it acknowledged before it was killed. */
async function startAndArchive(fs: UnsyncedFs): Promise<readonly Sha256[]> {
  const acknowledged: Sha256[] = []
  try {
    const archive = await openOn(fs)
    for (const bytes of [june, july, june]) acknowledged.push(await archive.write(bytes))
  } catch (error) {
    if (!isKill(error)) throw error
  }
  return acknowledged
}

function isKill(error: unknown): boolean {
  return error instanceof Killed || (error as Error).cause instanceof Killed
}

describe('G7 the archive after a crash', () => {
  /** Pseudo-random, the same in every run. */
  function choices(seed: number): () => number {
    let state = seed
    return () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state / 2 ** 31
    }
  }

  const survivals: readonly (readonly [string, (step: number) => Survival])[] = [
    ['everything unsynced is lost', () => 'nothing'],
    ['nothing is lost', () => 'everything'],
    ['some of it is lost, some torn', (step) => ({ choose: choices(step + 1) })],
  ]

  it.each(survivals)(
    'at every step, when %s: whole or absent, what was acknowledged is there',
    async (_, survival) => {
      const whole = await withDataDirectory()
      await startAndArchive(whole)
      expect(whole.operations).toBeGreaterThan(15)
      for (let step = 0; step <= whole.operations; step++) {
        const fs = await withDataDirectory({
          before({ index }) {
            if (index >= step) throw new Killed()
          },
        })
        const acknowledged = await startAndArchive(fs)
        const next = fs.afterCrash(survival(step))
        const log = createRecordingLog()
        const archive = await openOn(next, log)
        for (const digest of acknowledged)
          expect([step, await archive.read(digest)]).toEqual([step, expect.anything()])
        for (const digest of await archive.list()) expect(await archive.read(digest)).toBeDefined()
        expect(log.lines).toEqual([])
        expect([...next.files().keys()].filter((name) => !name.endsWith('.json'))).toEqual([])
        expect(await startAndArchive(next)).toHaveLength(3)
      }
    },
  )

  it('a disk that is full at any write is said, and leaves nothing half', async () => {
    const whole = await withDataDirectory()
    await startAndArchive(whole)
    let refusals = 0
    for (let step = 0; step < whole.operations; step++) {
      const fs = await withDataDirectory({
        before({ index, kind, path }) {
          if (index === step && ['create', 'write', 'sync', 'rename'].includes(kind))
            throw fsError('ENOSPC', path)
        },
      })
      const archive = await openOn(fs)
      for (const bytes of [june, july])
        await archive.write(bytes).catch((error: { code: string; message: string }) => {
          expect(error.code).toBe('SPACE_INSUFFICIENT')
          expect(error.message).toMatch(
            /^writing \/data\/metadata\/[0-9a-f]{64}\.json: no space left \(ENOSPC\)$/,
          )
          refusals++
        })
      expect([...fs.files().keys()].filter((name) => !name.endsWith('.json'))).toEqual([])
      for (const digest of await archive.list()) expect(await archive.read(digest)).toBeDefined()
    }
    expect(refusals).toBeGreaterThanOrEqual(8)
  })

  it('a failed sync of the directory is not taken for success by the next write', async () => {
    let isFailing = true
    const fs = await withDataDirectory({
      before({ kind, path }) {
        if (kind === 'syncDirectory' && path === directory && isFailing) throw fsError('EIO', path)
      },
    })
    const archive = await openOn(fs)
    await expect(archive.write(july)).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    isFailing = false
    const digest = await archive.write(july)
    expect(await (await openOn(fs.afterCrash('nothing'))).read(digest)).toBeDefined()
  })
})
