import { lstat, mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileIdentity } from '../../../src/core/file-identity.ts'
import { createOpenFiles, FileChangedError, type OpenFile } from '../../../src/http/boot/open-files.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../../fakes/temporary-directory.ts'

let directory: TemporaryDirectory
let path: string
const openFiles = createOpenFiles()

beforeEach(async () => {
  directory = await makeTemporaryDirectory()
  path = join(directory.path, 'blob')
  await writeFile(path, 'verified bytes')
})
afterEach(() => directory.remove())

async function opened(size = 14): Promise<OpenFile> {
  const result = await openFiles.acquire(path, { sizeBytes: size })
  if (result.kind === 'problem') throw new Error(result.problem)
  return result.file
}

async function textOf(file: OpenFile): Promise<string> {
  const target = Buffer.alloc(file.sizeBytes)
  await file.read(target, file.sizeBytes, 0)
  return target.toString()
}

describe('what is not as the catalog says is a problem, not a file (G1, field case 83)', () => {
  test.each([
    ['absent', () => rm(path)],
    ['empty', () => writeFile(path, '')],
    ['wrong-size', () => writeFile(path, 'verified bytes and more')],
    [
      'not-a-regular-file',
      async () => {
        await rename(path, `${path}.real`)
        await symlink(`${path}.real`, path)
      },
    ],
    [
      'not-a-regular-file',
      async () => {
        await rm(path)
        await mkdir(path)
      },
    ],
  ])('%s', async (problem, spoil) => {
    await spoil()
    expect(await openFiles.acquire(path, { sizeBytes: 14 })).toEqual({ kind: 'problem', problem })
  })

  test('a file of the same size that was written to since it was verified', async () => {
    const { mtimeMs } = await stat(path)
    const opened = await openFiles.acquire(path, { sizeBytes: 14, modifiedAt: mtimeMs })
    expect(opened.kind).toBe('open')
    if (opened.kind === 'open') opened.file.release()
    await utimes(path, mtimeMs / 1000 + 5, mtimeMs / 1000 + 5)
    expect(await openFiles.acquire(path, { sizeBytes: 14, modifiedAt: mtimeMs })).toEqual({
      kind: 'problem',
      problem: 'changed-since-verified',
    })
  })

  test('a path below a file cannot be read', async () => {
    expect(await openFiles.acquire(join(path, 'x'), { sizeBytes: 14 })).toEqual({
      kind: 'problem',
      problem: 'unreadable',
    })
  })
})

test('readers of one file share a descriptor, and one that leaves twice counts once', async () => {
  const [one, two] = await Promise.all([opened(), opened()])
  expect(one.id).toBe(two.id)
  expect(one.readers()).toBe(2)
  one.release()
  one.release()
  expect(two.readers()).toBe(1)
  expect(await textOf(two)).toBe('verified bytes')
  two.release()
})

test('G6 a file that is unlinked while it is read is read to its end', async () => {
  const file = await opened()
  await rm(path)
  expect(await textOf(file)).toBe('verified bytes')
  expect(await openFiles.acquire(path, { sizeBytes: 14 })).toEqual({ kind: 'problem', problem: 'absent' })
  file.release()
})

test('a file that took the place of another is another file', async () => {
  const before = await opened()
  await writeFile(`${path}.new`, 'VERIFIED BYTES')
  await rename(`${path}.new`, path)
  const after = await opened()
  expect(after.id).not.toBe(before.id)
  expect([await textOf(before), await textOf(after)]).toEqual(['verified bytes', 'VERIFIED BYTES'])
  before.release()
  after.release()
})

test('G1 one that was written to and whose time was set back is told by its identity', async () => {
  const identity = fileIdentity(await lstat(path, { bigint: true }))
  const known = { sizeBytes: 14, identity }
  const { atime, mtime } = await stat(path)
  const first = await openFiles.acquire(path, known)
  expect(first.kind).toBe('open')
  if (first.kind === 'open') first.file.release()
  await writeFile(path, 'VERIFIED BYTES')
  await utimes(path, atime, mtime)
  expect(await openFiles.acquire(path, known)).toEqual({
    kind: 'problem',
    problem: 'changed-since-verified',
  })
})

test('G1 bytes that were written into a file while it is read do not leave, also with its time set back', async () => {
  const file = await opened()
  const { atime, mtime } = await stat(path)
  expect(await textOf(file)).toBe('verified bytes')
  await writeFile(path, 'VERIFIED BYTES')
  await utimes(path, atime, mtime)
  await expect(textOf(file)).rejects.toThrow(FileChangedError)
  file.release()
})

test('a file that is cut while it is read is an error, never made-up bytes', async () => {
  const file = await opened()
  await truncate(path, 5)
  await expect(textOf(file)).rejects.toThrow(FileChangedError)
  file.release()
})
