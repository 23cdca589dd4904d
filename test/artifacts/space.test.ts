import { beforeEach, describe, expect, it } from 'vitest'
import { prepareLayout } from '../../src/artifacts/create-blob-store.ts'
import { layoutOf } from '../../src/artifacts/layout.ts'
import { createSpaceCheck } from '../../src/artifacts/space.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import { createFixedUpstream, type FixedAnswers } from '../fakes/fixed-upstream.ts'
import { createMemoryBlobStore, type MemoryBlobStore } from '../fakes/memory-blob-store.ts'
import { createUnsyncedFs, type UnsyncedFs } from '../fakes/unsynced-fs.ts'

const layout = layoutOf('/data')
const hex = (digit: string) => digit.repeat(64) as Sha256
let store: MemoryBlobStore
let fs: UnsyncedFs

beforeEach(async () => {
  store = createMemoryBlobStore()
  fs = createUnsyncedFs({ freeBytes: 1000 })
  await prepareLayout(fs, layout)
})

function artifact(name: string, sha256: Sha256, sizeBytes?: number): Artifact {
  const size = sizeBytes === undefined ? {} : { sizeBytes }
  return { role: 'rootfs', name, sha256, location: `http://up.example/${name}`, ...size }
}

function check(answers: FixedAnswers = {}, reserveBytes = 100) {
  const upstream = createFixedUpstream(answers)
  return { ...createSpaceCheck({ fs, layout, store, upstream, reserveBytes }), asked: upstream.asked }
}

const request = (...artifacts: Artifact[]) => ({ what: 'fcos 44 x86_64', artifacts, mirrors: [] })

describe('the space check before a set', () => {
  it('adds up what the document says, without asking anybody', async () => {
    const { measure, asked } = check()
    expect(await measure(request(artifact('a', hex('a'), 400), artifact('b', hex('b'), 500)))).toEqual({
      isEnough: true,
      neededBytes: 900,
      freeBytes: 1000,
      unknown: [],
    })
    expect(asked).toEqual([])
  })

  it('leaves the reserve alone, and tells needed and free', async () => {
    const { ensure } = check()
    await ensure(request(artifact('a', hex('a'), 900)))
    await expect(ensure(request(artifact('a', hex('a'), 901)))).rejects.toMatchObject({
      code: 'SPACE_INSUFFICIENT',
      message:
        'making room for fcos 44 x86_64 in /data: 901 bytes needed, 1000 free, of which 100 are kept in reserve',
      details: { neededBytes: 901, freeBytes: 1000, reserveBytes: 100 },
    })
  })

  it('does not count what is there already', async () => {
    const sha256 = store.put(Buffer.from('x'))
    const { measure } = check()
    expect(await measure(request(artifact('a', sha256, 5000)))).toMatchObject({
      isEnough: true,
      neededBytes: 0,
    })
  })

  it('does not count the part of a download that can be continued', async () => {
    const path = layout.incomingFile(hex('a'), 'a1')
    const file = await fs.create(path)
    await file.write(Buffer.alloc(600), 0)
    const note = await fs.create(layout.resumeNote(path))
    await note.write(Buffer.from(JSON.stringify({ url: 'http://up.example/a', validator: '"v"' })), 0)
    const { measure } = check()
    expect(await measure(request(artifact('a', hex('a'), 1400)))).toMatchObject({
      isEnough: true,
      neededBytes: 800,
    })
  })

  it('a set that is there fits even a full disk', async () => {
    fs = createUnsyncedFs({ freeBytes: 0 })
    const sha256 = store.put(Buffer.from('x'))
    await check().ensure(request(artifact('a', sha256, 5000)))
  })

  it('asks for a size that the document does not say, mirrors first', async () => {
    const size = (bytes: number) => () => ({ headers: { 'content-length': String(bytes) } })
    const { measure, asked } = check({ 'http://m.example/a': size(700), 'http://up.example/a': size(800) })
    const asking = { ...request(artifact('a', hex('a'))), mirrors: ['http://m.example/{name}'] }
    expect(await measure(asking)).toMatchObject({ neededBytes: 700, unknown: [] })
    expect(asked).toEqual(['HEAD http://m.example/a'])
  })

  it.each([
    ['nobody answers', {}],
    ['the answer has no length', { 'http://up.example/a': () => ({}) }],
    [
      'the answer breaks',
      {
        'http://up.example/a': () => {
          throw new Error('broken')
        },
      },
    ],
  ] satisfies [string, FixedAnswers][])(
    'a size that nobody tells is named, and does not stand in the way: %s',
    async (_what, answers) => {
      const { measure } = check(answers)
      expect(await measure(request(artifact('a', hex('a'))))).toMatchObject({
        isEnough: true,
        neededBytes: 0,
        unknown: ['a'],
      })
    },
  )
})
