import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isServiceError } from '../../src/core/errors.ts'
import { fileIdentity } from '../../src/core/file-identity.ts'
import { type Content, createContentOpener } from '../../src/tftp/content.ts'
import type { DiskFile } from '../../src/tftp/files.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tftp-content-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

async function file(name: string, bytes: Buffer | string): Promise<DiskFile> {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return { kind: 'disk', path, sizeBytes: Buffer.byteLength(bytes), id: path }
}

async function readAll(content: Content): Promise<string> {
  if (content.source.kind === 'memory') return content.source.bytes.toString('latin1')
  const target = Buffer.alloc(content.sizeBytes)
  await content.source.read(target, 0, 0)
  return target.toString('latin1')
}

/** Descriptors of this process that lead into the test's folder. */
async function openDescriptors(): Promise<number> {
  const { readlinkSync } = await import('node:fs')
  const names = await readdir('/proc/self/fd').catch(() => [])
  return names.filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder)
    } catch {
      return false
    }
  }).length
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await check()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await check()).toBe(true)
}

describe('contents of files', () => {
  it('a rendered file is what it is, and converted for netascii', async () => {
    const opener = createContentOpener()
    const rendered = { kind: 'rendered', bytes: Buffer.from('a\nb') } as const
    const octet = await opener.open(rendered, 'octet')
    expect([octet.sizeBytes, await readAll(octet), octet.id]).toEqual([3, 'a\nb', undefined])
    const netascii = await opener.open(rendered, 'netascii')
    expect([netascii.sizeBytes, await readAll(netascii)]).toEqual([4, 'a\r\nb'])
  })

  it('a file on disk is read in pieces', async () => {
    const content = await createContentOpener().open(await file('x', 'abcdefgh'), 'octet')
    if (content.source.kind !== 'disk') throw new Error('disk expected')
    const target = Buffer.alloc(5, 0x2d)
    await content.source.read(target, 2, 3)
    expect(target.toString()).toBe('--def')
    content.close()
  })

  it('netascii on disk has the size that is sent, converted once for all', async () => {
    const opener = createContentOpener()
    const onDisk = await file('x', 'a\nb\n')
    const [first, second] = await Promise.all([
      opener.open(onDisk, 'netascii'),
      opener.open(onDisk, 'netascii'),
    ])
    expect([first.sizeBytes, await readAll(first)]).toEqual([6, 'a\r\nb\r\n'])
    expect(first.source.kind === 'memory' && second.source.kind === 'memory').toBe(true)
    if (first.source.kind === 'memory' && second.source.kind === 'memory') {
      expect(first.source.bytes).toBe(second.source.bytes)
    }
    expect(first.id).not.toBe(onDisk.id)
    first.close()
    second.close()
  })

  it('transfers of one file share a descriptor, and the last one closes it', async () => {
    const opener = createContentOpener()
    const onDisk = await file('x', 'abc')
    const contents = [await opener.open(onDisk, 'octet'), await opener.open(onDisk, 'octet')]
    expect(await openDescriptors()).toBe(0)
    expect(await Promise.all(contents.map(readAll))).toEqual(['abc', 'abc'])
    expect(await openDescriptors()).toBe(1)
    contents[0]?.close()
    expect(await openDescriptors()).toBe(1)
    contents[1]?.close()
    await eventually(async () => (await openDescriptors()) === 0)
  })

  it('a reading that outlives its transfer ends well, and then lets go', async () => {
    const content = await createContentOpener().open(await file('x', 'abc'), 'octet')
    const reading = readAll(content)
    content.close()
    expect(await reading).toBe('abc')
    await eventually(async () => (await openDescriptors()) === 0)
  })

  it.each([
    ['shorter than announced', async (path: string) => truncate(path, 2)],
    ['longer than announced', async (path: string) => truncate(path, 9)],
    [
      'a folder now',
      async (path: string) => {
        await rm(path)
        await mkdir(path)
      },
    ],
    [
      'gone',
      async (path: string) => {
        await rm(path)
      },
    ],
    [
      'a device now',
      async (path: string) => {
        await rm(path)
        await symlink('/dev/zero', path)
      },
    ],
  ])('a file that is %s is not read, and can be tried again', async (_, change) => {
    const opener = createContentOpener()
    const onDisk = await file('x', 'abcde')
    const content = await opener.open(onDisk, 'octet')
    await change(onDisk.path)
    await expect(readAll(content)).rejects.toThrow()
    await rm(onDisk.path, { recursive: true, force: true })
    await writeFile(onDisk.path, 'fghij')
    expect(await readAll(content)).toBe('fghij')
    content.close()
  })

  it('a file that shrinks while it is read fails instead of going on for ever', async () => {
    const content = await createContentOpener().open(await file('x', 'abcde'), 'octet')
    await readAll(content)
    await truncate(join(folder, 'x'), 2)
    await expect(readAll(content)).rejects.toSatisfy((error) => isServiceError(error, 'STORAGE_FAILED'))
    content.close()
  })

  describe('G1 a file that was verified', () => {
    async function verifiedFile(): Promise<{ file: DiskFile; changes: () => number }> {
      const plain = await file('x', 'abcde')
      const identity = fileIdentity(await lstat(plain.path, { bigint: true }))
      let changes = 0
      const onChanged = () => {
        changes += 1
      }
      return { file: { ...plain, identity, onChanged }, changes: () => changes }
    }

    async function writeKeepingTime(path: string): Promise<void> {
      const { atime, mtime } = await stat(path)
      await writeFile(path, 'ABCDE')
      await utimes(path, atime, mtime)
    }

    it('G1 is read as long as it is that file', async () => {
      const { file, changes } = await verifiedFile()
      const content = await createContentOpener().open(file, 'octet')
      expect([await readAll(content), changes()]).toEqual(['abcde', 0])
      content.close()
    })

    it('G1 and has other bytes of the same length and time is not read, and told of', async () => {
      const { file, changes } = await verifiedFile()
      await writeKeepingTime(file.path)
      const content = await createContentOpener().open(file, 'octet')
      await expect(readAll(content)).rejects.toSatisfy((error) => isServiceError(error, 'STORAGE_FAILED'))
      expect(changes()).toBe(1)
      content.close()
    })

    it('G1 and is written into while it is sent is not read on', async () => {
      const { file, changes } = await verifiedFile()
      const content = await createContentOpener().open(file, 'octet')
      expect(await readAll(content)).toBe('abcde')
      await writeKeepingTime(file.path)
      await expect(readAll(content)).rejects.toThrow('was changed while it was sent')
      expect(changes()).toBe(1)
      content.close()
    })

    it('G6 and loses its name while it is sent is read to its end', async () => {
      const { file, changes } = await verifiedFile()
      const content = await createContentOpener().open(file, 'octet')
      expect(await readAll(content)).toBe('abcde')
      await rm(file.path)
      expect([await readAll(content), changes()]).toEqual(['abcde', 0])
      content.close()
      await eventually(async () => (await openDescriptors()) === 0)
      const gone = await createContentOpener().open(file, 'octet')
      await expect(readAll(gone)).rejects.toThrow('ENOENT')
      expect(changes()).toBe(1)
      gone.close()
    })
  })

  it('a kernel is not converted to netascii', async () => {
    const path = join(folder, 'big')
    await writeFile(path, '')
    await truncate(path, 5 * 1024 * 1024)
    const opening = createContentOpener().open(
      { kind: 'disk', path, sizeBytes: 5 * 1024 * 1024, id: path },
      'netascii',
    )
    await expect(opening).rejects.toSatisfy((error) => isServiceError(error, 'STORAGE_FAILED'))
  })
})
