import { describe, expect, it } from 'vitest'
import type { StreamArchSummary, StreamSummary } from '../../../src/http/admin/operations.ts'
import { streamNews } from '../../../src/runtime/webhooks/stream-news.ts'

const stream = (entry: Partial<StreamArchSummary>, more: Partial<StreamSummary> = {}): StreamSummary => ({
  name: 'fcos-stable',
  source: 'https://builds.example/streams/stable.json',
  architectures: [{ arch: 'x86_64', previous: [], ...entry }],
  ...more,
})

const pending = {
  change: 'republished',
  release: '44.2',
  policy: 'hold',
  seen: 1,
  decides: 'streams.fcos-stable.changes.republished',
}
const error = { code: 'UPSTREAM_UNREACHABLE', message: 'nothing answered' }

describe('what a receiver is told of a stream', () => {
  it.each<[string, StreamSummary | undefined, StreamSummary, readonly object[]]>([
    [
      'the first release',
      stream({}),
      stream({ current: '44.1' }),
      [{ type: 'stream.changed', data: { stream: 'fcos-stable', arch: 'x86_64', current: '44.1' } }],
    ],
    [
      'another release',
      stream({ current: '44.1' }),
      stream({ current: '44.2', previous: ['44.1'], lastChange: 'advanced' }),
      [
        {
          type: 'stream.changed',
          data: {
            stream: 'fcos-stable',
            arch: 'x86_64',
            current: '44.2',
            before: '44.1',
            change: 'advanced',
          },
        },
      ],
    ],
    [
      'a release that is gone',
      stream({ current: '44.1' }),
      stream({}),
      [{ type: 'stream.changed', data: { stream: 'fcos-stable', arch: 'x86_64', before: '44.1' } }],
    ],
    [
      'the progress of a fetch',
      stream({}),
      stream({ target: { release: '44.2', state: 'downloading' } }),
      [],
    ],
    [
      'a change that is held',
      stream({}),
      stream({ pending }),
      [
        {
          type: 'stream.held',
          data: {
            stream: 'fcos-stable',
            arch: 'x86_64',
            change: 'republished',
            release: '44.2',
            policy: 'hold',
            decides: pending.decides,
          },
        },
      ],
    ],
    [
      'the same change, seen once more',
      stream({ pending }),
      stream({ pending: { ...pending, seen: 2 } }),
      [],
    ],
    [
      'another release that is held in its place',
      stream({ pending }),
      stream({ pending: { ...pending, release: '44.3' } }),
      [expect.objectContaining({ type: 'stream.held' })],
    ],
    ['a change that is held no more', stream({ pending }), stream({}), []],
    [
      'a source that fails',
      stream({}),
      stream({}, { failingSince: '2026-11-30T10:00:00.000Z', error }),
      [
        {
          type: 'stream.failing',
          data: { stream: 'fcos-stable', since: '2026-11-30T10:00:00.000Z', error },
        },
      ],
    ],
    [
      'a source that goes on to fail',
      stream({}, { failingSince: '2026-11-30T10:00:00.000Z', error }),
      stream({}, { failingSince: '2026-11-30T10:00:00.000Z', error: { ...error, message: 'other' } }),
      [],
    ],
    [
      'a stream that comes',
      undefined,
      stream({ current: '44.1' }),
      [expect.objectContaining({ type: 'stream.changed' })],
    ],
  ])('%s', (_, before, now, news) => {
    expect(streamNews(before, now)).toEqual(news)
  })
})
