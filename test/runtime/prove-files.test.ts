import { beforeEach, describe, expect, it } from 'vitest'
import type { Sha256 } from '../../src/core/digest.ts'
import { createFileProver, type FileProver } from '../../src/runtime/prove-files.ts'
import { sha256Of } from '../fakes/bootimages.ts'
import { createManualTime, type ManualTime, settled } from '../fakes/manual-time.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const [current, pinned, rest, bad] = ['current', 'pinned', 'rest', 'bad'].map(sha256Of) as [
  Sha256,
  Sha256,
  Sha256,
  Sha256,
]

let doubtful: Map<Sha256, number>
let asked: Sha256[]
let recovered: Sha256[]
let answers: Map<Sha256, (isGood: boolean | Error) => void>
let time: ManualTime
let log: ReturnType<typeof createRecordingLog>
let prover: FileProver

beforeEach(() => {
  doubtful = new Map([rest, bad, pinned, current].map((sha256) => [sha256, 100]))
  asked = []
  recovered = []
  answers = new Map()
  time = createManualTime()
  log = createRecordingLog()
  prover = createFileProver({
    blobIndex: { doubtful },
    checker: {
      prove: (sha256) =>
        new Promise((resolve, reject) => {
          asked.push(sha256)
          answers.set(sha256, (answer) => {
            if (answer instanceof Error) return reject(answer)
            doubtful.delete(sha256)
            resolve(answer)
          })
        }),
      // A download that never ends keeps no other file waiting.
      recover: (sha256) => {
        recovered.push(sha256)
        return new Promise(() => {})
      },
    },
    order: () => [current, sha256Of('whole'), pinned],
    clock: time,
    timers: time,
    log,
  })
})

async function answer(sha256: Sha256, isGood: boolean | Error): Promise<void> {
  answers.get(sha256)?.(isGood)
  await settled()
}

describe('reading doubtful files after a start', () => {
  it('begins with what machines wait for, two at a time, and reads each once', async () => {
    prover.start()
    prover.start()
    await settled()
    expect(asked).toEqual([current, pinned])
    expect(prover.progress()).toEqual({ done: 0, total: 4 })
    await answer(current, true)
    expect(asked).toEqual([current, pinned, rest])
    expect(prover.progress()).toEqual({ done: 1, total: 4 })
    await answer(pinned, true)
    await answer(rest, true)
    await answer(bad, true)
    expect([prover.progress(), asked.length]).toEqual([undefined, 4])
    expect(log.lines.map(({ message, fields }) => [message, fields])).toEqual([
      ['files are not as they were when they were verified, they are read again', { files: 4, bytes: 400 }],
      ['files were read again', { files: 4, left: 0 }],
    ])
  })

  it('has what is bad fetched again, and goes on meanwhile', async () => {
    prover.start()
    await settled()
    await answer(current, false)
    expect([recovered, asked.length]).toEqual([[current], 3])
  })

  it('passes over what somebody else has read by then', async () => {
    prover.start()
    await settled()
    doubtful.delete(rest)
    await answer(current, true)
    expect(asked).toEqual([current, pinned, bad])
    expect(prover.progress()).toEqual({ done: 2, total: 4 })
  })

  it('tries again a minute later what could not be read', async () => {
    doubtful = new Map([[current, 1]])
    prover = createFileProver({
      blobIndex: { doubtful },
      checker: {
        async prove(sha256) {
          asked.push(sha256)
          throw new Error('the disk is on fire')
        },
        recover: async () => {},
      },
      order: () => [],
      clock: time,
      timers: time,
      log,
    })
    prover.start()
    await settled()
    expect([asked.length, prover.progress()]).toEqual([1, undefined])
    await time.advance(60_000)
    expect(asked).toHaveLength(2)
    await prover.stop()
    await time.advance(600_000)
    expect(asked).toHaveLength(2)
  })

  it('nothing in doubt is nothing to do and nothing to say', () => {
    doubtful.clear()
    prover.start()
    expect([prover.progress(), log.lines]).toEqual([undefined, []])
  })

  it('a stop ends it after what is being read', async () => {
    prover.start()
    await settled()
    const stopped = prover.stop()
    await answer(current, true)
    await answer(pinned, true)
    await stopped
    expect(asked).toHaveLength(2)
  })
})
