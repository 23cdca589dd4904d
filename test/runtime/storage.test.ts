import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFile,
  chmod,
  copyFile,
  cp,
  link,
  mkdir,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFetchEngine, type FetchEngine } from '../../src/artifacts/fetch-engine.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { silentLog } from '../../src/core/log.ts'
import { createFileChecker } from '../../src/runtime/check-files.ts'
import { openStorage, type Storage } from '../../src/runtime/storage.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'
import { makeTemporaryDirectory, type TemporaryDirectory } from '../fakes/temporary-directory.ts'

const clock = { now: () => Date.parse('2026-11-29T12:00:00Z') }
const signal = new AbortController().signal
const bytes = Buffer.from('the kernel that was verified')
const evil = Buffer.from('the kernel of somebody else!')
const sha256 = digestOf(bytes)

let directory: TemporaryDirectory
let dataDirectory: string
let storage: Storage
let engine: FetchEngine

beforeEach(async () => {
  directory = await makeTemporaryDirectory()
  dataDirectory = join(directory.path, 'data')
  await open()
})
afterEach(async () => {
  await close()
  await directory.remove()
})

async function open(): Promise<void> {
  storage = await openStorage({ dataDirectory, clock, log: silentLog })
  engine = createFetchEngine({ dataDirectory, upstream: { allowedOrigins: [] }, trustedKeys: [] })
}

async function close(): Promise<void> {
  await engine.close()
  await storage.close()
}

async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
  await close()
  await meanwhile()
  await open()
}

function digestOf(content: Uint8Array): Sha256 {
  return createHash('sha256').update(content).digest('hex') as Sha256
}

const blobPath = (digest = sha256) => layoutOf(dataDirectory).blob(digest)

async function place(content: Uint8Array, digest = digestOf(content)): Promise<void> {
  await mkdir(dirname(blobPath(digest)), { recursive: true })
  await writeFile(blobPath(digest), content, { mode: 0o444 })
}

/** As it is after a download: there, read, recorded. */
async function placeVerified(content: Uint8Array): Promise<Sha256> {
  await place(content)
  const found = await engine.hash(digestOf(content), {}, signal)
  if (found === undefined || found.digest !== digestOf(content)) throw new Error('not as it was written')
  await storage.blobIndex.add(found.blob)
  return found.digest
}

/** Reads a doubtful file, as the service does after its start. */
function prove(digest = sha256): Promise<boolean> {
  return createFileChecker({
    storage,
    fetcher: { hash: (wanted) => engine.hash(wanted, {}, signal) },
    sync: { ensure: async () => undefined },
    extras: { restore() {} },
    publish() {},
    onBadBlob() {},
    log: createRecordingLog(),
  }).prove(digest)
}

/** Does something to the file and gives it back its time. */
async function keepingTime(change: () => Promise<unknown>): Promise<void> {
  const { atime, mtime } = await stat(blobPath())
  await change()
  await utimes(blobPath(), atime, mtime)
}

async function writeInto(content: Uint8Array): Promise<void> {
  await chmod(blobPath(), 0o644)
  await writeFile(blobPath(), content)
}

const isBelieved = (digest = sha256) => storage.blobIndex.facts.has(digest)
const isDoubtful = (digest = sha256) => storage.blobIndex.doubtful.has(digest)

describe('G1 opening the data directory', () => {
  it('G1 G7 believes what is as it was verified, without reading it', async () => {
    await placeVerified(bytes)
    await restart(async () => {})
    expect([isBelieved(), isDoubtful()]).toEqual([true, false])
    expect(storage.blobIndex.usedBytes()).toBe(bytes.length)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['other bytes of the same length and time', () => keepingTime(() => writeInto(evil))],
    [
      'another file of the same length and time',
      () =>
        keepingTime(async () => {
          await writeFile(`${blobPath()}.x`, evil)
          await rename(`${blobPath()}.x`, blobPath())
        }),
    ],
    ['a shorter file', () => truncate(blobPath(), 5)],
    ['a longer file', () => appendFile(blobPath(), 'x')],
    ['an empty file', () => truncate(blobPath(), 0)],
    [
      'a hard link to another file',
      async () => {
        await writeFile(join(directory.path, 'evil'), evil)
        await rm(blobPath())
        await link(join(directory.path, 'evil'), blobPath())
      },
    ],
  ])('G1 doubts %s, and takes it into quarantine when it has read it', async (_what, change) => {
    await placeVerified(bytes)
    await restart(async () => {
      await chmod(blobPath(), 0o644)
      await change()
    })
    expect([isBelieved(), isDoubtful()]).toEqual([false, true])
    expect(storage.blobIndex.usedBytes()).toBe(0)
    expect(await prove()).toBe(false)
    expect([isBelieved(), isDoubtful()]).toEqual([false, false])
    expect(await readdir(layoutOf(dataDirectory).quarantine)).toContain(sha256)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['a link', () => symlink(join(directory.path, 'right'), blobPath())],
    ['a directory', () => mkdir(blobPath())],
    ['a pipe', async () => execFileSync('mkfifo', [blobPath()])],
    ['nothing', async () => {}],
  ])('G1 has no file where there is %s', async (_what, put) => {
    await placeVerified(bytes)
    await restart(async () => {
      await copyFile(blobPath(), join(directory.path, 'right'))
      await rm(blobPath())
      await put()
    })
    expect([isBelieved(), isDoubtful()]).toEqual([false, false])
    expect(await storage.store.listVerified()).toEqual([])
  })

  it('G1 doubts two files that were swapped', async () => {
    await placeVerified(bytes)
    const other = await placeVerified(evil)
    await restart(async () => {
      await rename(blobPath(), `${blobPath()}.x`)
      await rename(blobPath(other), blobPath())
      await rename(`${blobPath()}.x`, blobPath(other))
    })
    expect([isBelieved(), isBelieved(other)]).toEqual([false, false])
    expect([await prove(), await prove(other)]).toEqual([false, false])
  })

  it('G1 doubts a file that nobody recorded, whatever is in it', async () => {
    const right = digestOf(Buffer.from('right'))
    await restart(async () => {
      await place(evil, sha256)
      await place(Buffer.from('right'))
    })
    expect([isBelieved(), isDoubtful()]).toEqual([false, true])
    expect([isBelieved(right), isDoubtful(right)]).toEqual([false, true])
    expect([await prove(), await prove(right)]).toEqual([false, true])
    expect([isBelieved(), isBelieved(right)]).toEqual([false, true])
  })

  it('G1 G7 reads a copy of the directory once, and believes it from then on', async () => {
    await placeVerified(bytes)
    await restart(async () => {
      const moved = join(directory.path, 'restored')
      await cp(dataDirectory, moved, { recursive: true, preserveTimestamps: true })
      dataDirectory = moved
    })
    expect([isBelieved(), isDoubtful()]).toEqual([false, true])
    expect(await prove()).toBe(true)
    expect([isBelieved(), isDoubtful()]).toEqual([true, false])
    await restart(async () => {})
    expect(isBelieved()).toBe(true)
  })

  it('G7 a crash between the file and its record costs one reading', async () => {
    await restart(() => place(bytes))
    expect(isDoubtful()).toBe(true)
    expect(await prove()).toBe(true)
    await restart(async () => {})
    expect(isBelieved()).toBe(true)
  })

  it('G1 a record without its file makes no later file believed', async () => {
    await placeVerified(bytes)
    const [record] = await storage.store.listVerified()
    if (record === undefined) throw new Error('nothing was recorded')
    const times = await stat(blobPath())
    await restart(() => rm(blobPath()))
    await storage.store.saveVerified(record)
    await restart(async () => {
      await place(evil, sha256)
      await utimes(blobPath(), times.atime, times.mtime)
    })
    expect(isBelieved()).toBe(false)
  })

  it('G7 a full or failing state store costs the record and not the file', async () => {
    await place(bytes)
    const found = await engine.hash(sha256, {}, signal)
    if (found === undefined) throw new Error('it was just written')
    await storage.store.close()
    await storage.blobIndex.add(found.blob)
    expect(isBelieved()).toBe(true)
    await restart(async () => {})
    expect(isDoubtful()).toBe(true)
  })
})

describe('G1 a signature', () => {
  const signature = Buffer.from('good, as it was found')
  const path = () => layoutOf(dataDirectory).signature(sha256)

  beforeEach(async () => {
    await placeVerified(bytes)
    await writeFile(path(), signature)
    const found = await storage.blobs.readSignature(sha256)
    const blob = await storage.blobs.stat(sha256)
    if (found && blob) await storage.blobIndex.add(blob, found)
  })

  const signed = () => storage.blobIndex.facts.get(sha256)?.signaturePath

  it('G1 is believed as long as it is as it was verified', async () => {
    await restart(async () => {})
    expect(signed()).toBe(path())
  })

  it('G1 that is the same in another file is believed again', async () => {
    await restart(async () => {
      await copyFile(path(), `${path()}.x`)
      await rename(`${path()}.x`, path())
    })
    expect(signed()).toBe(path())
    const identity = await storage.blobs.statSignature(sha256)
    expect(storage.blobIndex.facts.get(sha256)?.signatureIdentity).toBe(identity)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['has other bytes', () => writeFile(path(), 'bad, and just as long')],
    ['is empty', () => truncate(path(), 0)],
    ['is gone', () => rm(path())],
    [
      'is a link',
      async () => {
        await rename(path(), join(directory.path, 'elsewhere'))
        await symlink(join(directory.path, 'elsewhere'), path())
      },
    ],
  ])('G1 that %s is not, and its file still is', async (_what, change) => {
    await restart(change)
    expect([signed(), isBelieved()]).toEqual([undefined, true])
    await restart(async () => {})
    expect([signed(), isBelieved()]).toEqual([undefined, true])
  })

  it('G1 stays with its file when that is read again', async () => {
    await restart(() => utimes(blobPath(), new Date(), new Date()))
    expect(await prove()).toBe(true)
    expect(signed()).toBe(path())
  })

  it('G1 that nobody recorded is no signature', async () => {
    await storage.store.saveVerified({
      sha256,
      identity: (await storage.store.listVerified())[0]?.identity ?? ('' as never),
      verifiedAt: 1,
    })
    await restart(async () => {})
    expect([signed(), isBelieved()]).toEqual([undefined, true])
  })
})
