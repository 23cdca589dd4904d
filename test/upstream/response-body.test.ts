import { describe, expect, it } from 'vitest'
import { responseBody } from '../../src/upstream/response-body.ts'

/** A source whose every chunk takes `waitMs` of a clock that the test moves. */
function source(chunks: readonly number[], waitMs: number) {
  let time = 0
  async function* body() {
    for (const size of chunks) {
      time += waitMs
      yield new Uint8Array(size)
    }
  }
  return {
    body: body(),
    now: () => time,
    pass(ms: number) {
      time += ms
    },
  }
}

const url = new URL('http://mirror.example/f?token=secret')

async function drain(from: AsyncIterable<Uint8Array>, eachChunk = () => {}): Promise<number> {
  let bytes = 0
  for await (const chunk of from) {
    bytes += chunk.length
    eachChunk()
  }
  return bytes
}

describe('responseBody', () => {
  it('a source that drips single bytes is stalled although it never stops', async () => {
    const { body, now } = source(new Array(100).fill(1), 20_000)
    const dripping = responseBody({ body, url, signal: undefined, stallTimeoutMs: 30_000, now })
    await expect(drain(dripping)).rejects.toMatchObject({
      code: 'UPSTREAM_STALLED',
      message: 'reading http://mirror.example/f: only 2 bytes in 30 s',
    })
  })

  it('a slow source that keeps on bringing more is read to the end', async () => {
    const { body, now } = source(new Array(100).fill(1024), 29_000)
    expect(await drain(responseBody({ body, url, signal: undefined, stallTimeoutMs: 30_000, now }))).toBe(
      102_400,
    )
  })

  it('the time that the reader takes does not count', async () => {
    const { body, now, pass } = source([1, 1, 1, 1], 1)
    const read = responseBody({ body, url, signal: undefined, stallTimeoutMs: 30_000, now })
    expect(await drain(read, () => pass(60_000))).toBe(4)
  })
})
