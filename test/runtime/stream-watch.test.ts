import { describe, expect, it } from 'vitest'
import type { StreamSummary } from '../../src/http/admin/operations.ts'
import { createStreamWatch } from '../../src/runtime/stream-watch.ts'
import { createManualTime } from '../fakes/manual-time.ts'

const stream = (name: string, more: Partial<StreamSummary> = {}): StreamSummary => ({
  name,
  source: 'https://builds.example/streams/stable.json',
  architectures: [{ arch: 'x86_64', current: '44.1', previous: [] }],
  ...more,
})

function setUp(...streams: StreamSummary[]) {
  const time = createManualTime()
  let now: readonly StreamSummary[] = streams
  let looks = 0
  const published: [string, object][] = []
  const changes: [string | undefined, string | undefined][] = []
  const release = (summary: StreamSummary | undefined) => summary?.architectures[0]?.current
  const watch = createStreamWatch({
    summaries() {
      looks += 1
      return now
    },
    publish: (type, make) => void published.push([type, make()]),
    onChange: (before, after) => void changes.push([release(before), release(after)]),
    timers: time,
  })
  return {
    time,
    watch,
    published,
    changes,
    looks: () => looks,
    async become(...next: StreamSummary[]) {
      now = next
      watch.note()
      await time.advance(1_000)
    },
  }
}

const next = [{ arch: 'x86_64', current: '44.2', previous: ['44.1'] }] as const

describe('what streams hand out', () => {
  it('is told when it changes, and not as it was at the beginning', async () => {
    const { published, changes, become } = setUp(stream('a'), stream('b'))
    await become(stream('a'), stream('b'))
    expect(published).toEqual([])
    const changed = stream('b', { architectures: next })
    await become(stream('a'), changed)
    expect(published).toEqual([['stream', changed]])
    expect(changes).toEqual([['44.1', '44.2']])
  })

  it('is not told because it was looked for again', async () => {
    const { published, become } = setUp(stream('a', { lastAttemptAt: '1' }))
    await become(stream('a', { lastAttemptAt: '2', lastSuccessAt: '2' }))
    expect(published).toEqual([])
    await become(stream('a', { failingSince: '3', error: { code: 'UPSTREAM_UNREACHABLE', message: 'no' } }))
    expect(published).toHaveLength(1)
  })

  it('is looked at once a second however often something may have changed', async () => {
    const { time, watch, looks } = setUp(stream('a'))
    for (let index = 0; index < 1_000; index += 1) {
      watch.note()
      await time.advance(3)
    }
    expect(looks()).toBeLessThanOrEqual(4)
  })

  it('is told of a stream that comes, also of one that comes again', async () => {
    const { published, changes, become } = setUp(stream('a'))
    await become(stream('a'), stream('b'))
    await become(stream('a'))
    await become(stream('a'), stream('b'))
    expect(published).toHaveLength(2)
    expect(changes).toEqual([
      [undefined, '44.1'],
      [undefined, '44.1'],
    ])
  })

  it('is looked at no more after the end', async () => {
    const { time, watch, looks } = setUp(stream('a'))
    watch.note()
    watch.stop()
    await time.advance(10_000)
    expect([looks(), time.pending]).toEqual([1, 0])
  })
})
