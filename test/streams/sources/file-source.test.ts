import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/streams/parse-document.ts'
import { createSource } from '../../../src/streams/sources/create-source.ts'
import type { MetadataSource } from '../../../src/streams/sources/source.ts'
import { metadataSourceContract } from '../../contracts/metadata-source.ts'
import { createManualTime, type ManualTime } from '../../fakes/manual-time.ts'
import { bytesOf, streamDocument } from '../../fixtures/streams/documents.ts'

let folder: string
let time: ManualTime

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pilotlight-source-'))
  time = createManualTime()
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const document = bytesOf(streamDocument())

async function putFile(path: string, bytes: Uint8Array | undefined): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await (bytes === undefined ? rm(path, { force: true }) : writeFile(path, bytes))
}

function fileAt(path: string): MetadataSource {
  return createSource({ kind: 'file', path, timers: time })
}

function directoryAt(path: string, stream = 'stable'): MetadataSource {
  return createSource({ kind: 'directory', path, stream, timers: time })
}

describe('a file', () => {
  metadataSourceContract(async () => {
    const path = join(folder, 'rhcos.json')
    return { source: fileAt(path), put: (bytes) => putFile(path, bytes), async dispose() {} }
  })

  it('is its own place, and its directory is the base', async () => {
    const path = join(folder, 'with space', 'meta.json')
    await putFile(path, document)
    const source = fileAt(path)
    expect(source.baseUrl).toBe(`file://${folder}/with%20space/`)
    expect(await source.fetch({ read: parseMetadata })).toMatchObject({ url: path })
  })

  it('may be a link, as in a mounted ConfigMap', async () => {
    await putFile(join(folder, '..data', 'stream.json'), document)
    await symlink(join('..data', 'stream.json'), join(folder, 'stream.json'))
    expect(await fileAt(join(folder, 'stream.json')).fetch({ read: parseMetadata })).toHaveProperty(
      'document',
    )
  })

  it('that is a directory or a pipe is refused and never waited for', async () => {
    await expect(fileAt(folder).fetch({ read: parseMetadata })).rejects.toMatchObject({
      code: 'METADATA_UNAVAILABLE',
      message: `${folder}: is not a regular file`,
    })
    const pipe = join(folder, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    await expect(fileAt(pipe).fetch({ read: parseMetadata })).rejects.toMatchObject({
      message: `${pipe}: is not a regular file`,
    })
  })

  it('below a file that is no directory is not there', async () => {
    await putFile(join(folder, 'file'), document)
    const path = join(folder, 'file', 'stable.json')
    await expect(fileAt(path).fetch({ read: parseMetadata })).rejects.toMatchObject({
      message: `${path}: no such file`,
    })
  })

  it.skipIf(process.getuid?.() === 0)('that may not be read says so', async () => {
    const path = join(folder, 'secret.json')
    await putFile(path, document)
    await chmod(path, 0)
    await expect(fileAt(path).fetch({ read: parseMetadata })).rejects.toMatchObject({
      message: `${path}: cannot be read (EACCES)`,
    })
  })

  it('whose path goes in circles says so', async () => {
    const path = join(folder, 'loop.json')
    await symlink(path, path)
    await expect(fileAt(path).fetch({ read: parseMetadata })).rejects.toMatchObject({
      message: `${path}: cannot be read (ELOOP)`,
    })
  })
})

describe('a directory laid out like a stream base URL', () => {
  describe('with streams/<stream>.json', () => {
    metadataSourceContract(async () => {
      const path = join(folder, 'streams', 'stable.json')
      return { source: directoryAt(folder), put: (bytes) => putFile(path, bytes), async dispose() {} }
    })
  })

  describe('with <stream>.json', () => {
    metadataSourceContract(async () => {
      const path = join(folder, 'stable.json')
      return { source: directoryAt(folder), put: (bytes) => putFile(path, bytes), async dispose() {} }
    })
  })

  it('prefers the first, and the base of relative locations is the directory itself', async () => {
    await putFile(join(folder, 'stable.json'), bytesOf('{}'))
    await putFile(join(folder, 'streams', 'stable.json'), document)
    const source = directoryAt(folder)
    expect(source.baseUrl).toBe(`file://${folder}/`)
    expect(await source.fetch({ read: parseMetadata })).toMatchObject({
      url: join(folder, 'streams', 'stable.json'),
    })
  })

  it('may hold the files too: relative and file: locations below it are fine, others are not', async () => {
    const document = streamDocument({ architectures: ['x86_64', 'aarch64'] })
    const { x86_64, aarch64 } = document.architectures
    x86_64.artifacts.metal.formats.pxe.kernel.location = 'builds/44/x86_64/kernel'
    x86_64.artifacts.metal.formats.pxe.rootfs.location = `file://${folder}/builds/44/x86_64/rootfs.img`
    aarch64.artifacts.metal.formats.pxe.kernel.location = 'file:///etc/shadow'
    await putFile(join(folder, 'streams', 'stable.json'), bytesOf(document))
    const source = directoryAt(folder)
    const read = (bytes: Uint8Array) => parseMetadata(bytes, { baseUrl: source.baseUrl })
    const answer = await source.fetch({ read })
    if (answer.kind !== 'document') throw new Error('no document')
    const live = answer.document.architectures.get('x86_64')?.live
    expect(live?.kernel.location).toBe(`file://${folder}/builds/44/x86_64/kernel`)
    expect(live?.rootfs?.location).toBe(`file://${folder}/builds/44/x86_64/rootfs.img`)
    expect(answer.document.architectures.has('aarch64')).toBe(false)
  })

  it('names both places when neither is there', async () => {
    await expect(directoryAt(folder).fetch({ read: parseMetadata })).rejects.toMatchObject({
      message: `${folder}/streams/stable.json and ${folder}/stable.json: no such file`,
    })
  })

  it.each(['../secret', 'a/b', '', 'a b', '..'])('%j is not the name of a document', (stream) => {
    expect(() => directoryAt(folder, stream)).toThrow(/is not the name of a document/)
  })
})

describe('watching', () => {
  /** Resolves with the number of calls when the next one comes. */
  function counted(source: MetadataSource): {
    next: () => Promise<number>
    calls: () => number
    stop: () => void
  } {
    let calls = 0
    let wake: (() => void) | undefined
    const stop = source.watch?.(() => {
      calls++
      wake?.()
    })
    if (stop === undefined) throw new Error('cannot be watched')
    return {
      next: async () => {
        const before = calls
        await new Promise<void>((resolve) => {
          wake = resolve
          if (calls > before) resolve()
        })
        return calls
      },
      calls: () => calls,
      stop,
    }
  }

  /** Lets the file system tell, and time pass, until `done`. */
  async function until(done: Promise<unknown>): Promise<void> {
    let isDone = false
    void done.then(() => {
      isDone = true
    })
    while (!isDone) await time.advance(250)
  }

  it('tells of a file that was replaced, written, and came back', async () => {
    const path = join(folder, 'streams', 'stable.json')
    await putFile(path, bytesOf('{}'))
    const watched = counted(directoryAt(folder))
    await time.advance(0)
    await putFile(`${path}.new`, document)
    const replaced = watched.next()
    await rename(`${path}.new`, path)
    await until(replaced)
    const removed = watched.next()
    await rm(path)
    await until(removed)
    const written = watched.next()
    await writeFile(path, document)
    await until(written)
    watched.stop()
  })

  it('finds a change by looking where the file system tells nothing', async () => {
    const path = join(folder, 'not yet', 'stable.json')
    const watched = counted(createSource({ kind: 'file', path, timers: time, pollMs: 60_000 }))
    await time.advance(60_000)
    expect(watched.calls()).toBe(0)
    await putFile(path, document)
    const found = watched.next()
    await until(found)
    watched.stop()
  })

  it('says nothing of other files, nor after its end', async () => {
    const path = join(folder, 'stable.json')
    await putFile(path, document)
    const watched = counted(fileAt(path))
    await time.advance(0)
    await putFile(join(folder, 'other.json'), document)
    for (let turn = 0; turn < 50; turn++) await time.advance(1000)
    expect(watched.calls()).toBe(0)
    watched.stop()
    watched.stop()
    await putFile(path, bytesOf('{}'))
    for (let turn = 0; turn < 50; turn++) await time.advance(1000)
    expect(watched.calls()).toBe(0)
    expect(time.pending).toBe(0)
  })
})
