import { createHash, randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { FileChangedError, hashFile } from '../../src/artifacts/hash-file.ts'
import { createUnsyncedFs, type UnsyncedFs } from '../fakes/unsynced-fs.ts'

const bytes = randomBytes(10_000)
const signal = new AbortController().signal
let fs: UnsyncedFs

beforeEach(async () => {
  fs = createUnsyncedFs()
  const file = await fs.create('/f')
  await file.write(bytes, 0)
})

describe('hashFile', () => {
  it('hashes prefix, file and suffix with the algorithm asked for', async () => {
    const prefix = Buffer.from('before')
    const suffix = Buffer.from('after')
    const found = await hashFile({
      fs,
      path: '/f',
      algorithm: 'sha512',
      prefix,
      suffix,
      blockBytes: 999,
      signal,
    })
    expect(found.digest).toEqual(createHash('sha512').update('before').update(bytes).update('after').digest())
  })

  it('G1 brings the file to the disk before it looks, so that a mapping cannot be written through unseen', async () => {
    const steps: string[] = []
    fs = createUnsyncedFs({ before: ({ kind }) => void steps.push(kind) })
    await fs.create('/f')
    await hashFile({ fs, path: '/f', blockBytes: 1024, signal })
    expect(steps).toEqual(['create', 'openForRead', 'sync', 'read'])
  })

  it('reads no faster than it is told', async () => {
    let time = 0
    const pace = {
      bytesPerSecond: 1000,
      now: () => time,
      async pause(delayMs: number) {
        time += delayMs
      },
    }
    const found = await hashFile({ fs, path: '/f', blockBytes: 1024, pace, signal })
    expect(found.digest).toEqual(createHash('sha256').update(bytes).digest())
    expect(time).toBeCloseTo(10_000)
  })

  it('does not wait when the disk is slower than the pace', async () => {
    let time = 0
    const pauses: number[] = []
    const pace = {
      bytesPerSecond: 1000,
      now() {
        time += 20_000
        return time
      },
      async pause(delayMs: number) {
        pauses.push(delayMs)
      },
    }
    await hashFile({ fs, path: '/f', blockBytes: 1024, pace, signal })
    expect(pauses).toEqual([])
  })

  it('stops between blocks with the signal’s reason', async () => {
    const reason = new Error('enough')
    await expect(
      hashFile({ fs, path: '/f', blockBytes: 1024, signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason)
  })

  it('G1 is no word on a file that somebody wrote into meanwhile', async () => {
    const writer = await fs.openForWrite('/f')
    let blocks = 0
    const pace = {
      bytesPerSecond: 1,
      now: () => 0,
      async pause() {
        blocks += 1
        // Into what was read already, as long as before: only its identity tells.
        if (blocks === 2) await writer.write(Buffer.from('x'), 0)
      },
    }
    await expect(hashFile({ fs, path: '/f', blockBytes: 1024, pace, signal })).rejects.toThrow(
      FileChangedError,
    )
  })

  it('G1 is no word on another file than the one that was meant', async () => {
    const { stat } = await hashFile({ fs, path: '/f', blockBytes: 1024, signal })
    const same = await hashFile({ fs, path: '/f', blockBytes: 1024, identity: stat.identity, signal })
    expect(same.stat).toEqual(stat)
    await (await fs.openForWrite('/f')).setMode(0o400)
    await expect(
      hashFile({ fs, path: '/f', blockBytes: 1024, identity: stat.identity, signal }),
    ).rejects.toThrow(FileChangedError)
  })
})
