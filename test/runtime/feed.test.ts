import { describe, expect, it, vi } from 'vitest'
import type { ServiceEvent } from '../../src/core/service-event.ts'
import { createServiceEventFeed } from '../../src/runtime/feed.ts'
import { createManualTime } from '../fakes/manual-time.ts'

function createFeed(options: { readonly most?: number; readonly epoch?: number } = {}) {
  const time = createManualTime(1_000)
  const deferred: (() => void)[] = []
  const feed = createServiceEventFeed({
    clock: time,
    epoch: 36,
    ...options,
    defer: (run) => deferred.push(run),
  })
  const endTurn = () => {
    for (const run of deferred.splice(0)) run()
  }
  const publish = (count: number) => {
    for (let index = 0; index < count; index += 1) feed.publish('boot', () => ({ index }))
  }
  return { feed, time, endTurn, publish }
}

const numbers = (events: readonly ServiceEvent[]) => events.map(({ id }) => Number(id.split('-')[1]))

describe('the feed', () => {
  it('begins empty, and whoever begins at its end has missed nothing', () => {
    const { feed } = createFeed()
    expect(feed.lastId).toBe('10-0')
    expect(feed.read(feed.lastId, 10)).toEqual({ events: [], isGap: false })
  })

  it('gives what came after an id, in order and in portions', () => {
    const { feed, publish } = createFeed()
    publish(5)
    const first = feed.read('10-1', 2)
    expect(numbers(first.events)).toEqual([2, 3])
    expect(numbers(feed.read('10-3', 10).events)).toEqual([4, 5])
    expect(feed.read('10-5', 10)).toEqual({ events: [], isGap: false })
  })

  it('an event has its time, its type and the machine that it tells of', () => {
    const { feed, time } = createFeed()
    const about = { host: 'rack1-n01', mac: '52:54:00:ab:cd:ef' }
    feed.publish('boot', () => ({ step: 'a\nb' }), about)
    const [event] = feed.read('10-0', 1).events
    expect(event).toMatchObject({ id: '10-1', type: 'boot', at: time.now(), about })
    expect(event?.data).toBe('{"step":"a\\nb"}')
  })

  it('what an event says is made once, when it is read first', () => {
    const { feed } = createFeed()
    const make = vi.fn(() => ({ a: 1 }))
    feed.publish('stream', make)
    expect(make).not.toHaveBeenCalled()
    const [event] = feed.read('10-0', 1).events
    expect(make).not.toHaveBeenCalled()
    expect([event?.data, event?.data]).toEqual(['{"a":1}', '{"a":1}'])
    expect(feed.read('10-0', 1).events[0]?.data).toBe('{"a":1}')
    expect(make).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['nothing is lost while all fit', 4, '10-0', [1, 2, 3, 4], false],
    ['the very next one is still there', 6, '10-2', [3, 4, 5, 6], false],
    ['the next one was overwritten', 7, '10-2', [4, 5, 6, 7], true],
    ['everything was overwritten several times', 21, '10-2', [18, 19, 20, 21], true],
  ])('of a ring of four: %s', (_, published, after, expected, isGap) => {
    const { feed, publish } = createFeed({ most: 4 })
    publish(published)
    const found = feed.read(after, 100)
    expect(numbers(found.events)).toEqual(expected)
    expect(found.isGap).toBe(isGap)
  })

  it.each(['11-1', 'x-1', '10-4', '10-01', '10--1', '10-1e0', '10-', '', '10-99999999999999999999'])(
    'the id %j, which nobody got from this run, is a gap and begins with the oldest',
    (after) => {
      const { feed, publish } = createFeed()
      publish(3)
      expect(feed.read(after, 10)).toMatchObject({ isGap: true })
      expect(numbers(feed.read(after, 10).events)).toEqual([1, 2, 3])
    },
  )

  it('wakes a follower once for all events of a turn, and not any more after it ended', () => {
    const { feed, publish, endTurn } = createFeed()
    const wake = vi.fn()
    const end = feed.follow(wake)
    publish(100)
    expect(wake).not.toHaveBeenCalled()
    endTurn()
    expect(wake).toHaveBeenCalledTimes(1)
    publish(1)
    end()
    end()
    endTurn()
    expect(wake).toHaveBeenCalledTimes(1)
  })

  it('a follower that is ended by another one is not woken in the same round', () => {
    const { feed, publish, endTurn } = createFeed()
    const late = vi.fn()
    const ends: (() => void)[] = []
    feed.follow(() => {
      for (const end of ends) end()
    })
    ends.push(feed.follow(late))
    publish(1)
    endTurn()
    expect(late).not.toHaveBeenCalled()
  })

  it('keeps nothing that was overwritten', () => {
    const { feed, publish } = createFeed({ most: 8 })
    publish(100_000)
    expect(feed.read('10-0', 1_000_000).events).toHaveLength(8)
  })
})
