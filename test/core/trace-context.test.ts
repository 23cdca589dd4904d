import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BootId } from '../../src/core/boot-event.ts'
import {
  formatTraceparent,
  parseTraceparent,
  readRequestTrace,
  traceHeaders,
  traceIdOfBoot,
} from '../../src/core/trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'

describe('a traceparent header', () => {
  it('is read, and written as it came', () => {
    const text = `00-${traceId}-${parentId}-01`
    const context = { traceId, parentId, isSampled: true }
    expect(parseTraceparent(text)).toEqual(context)
    expect(formatTraceparent(context)).toBe(text)
  })

  it.each([
    ['of a later version, as far as it is known', `cc-${traceId}-${parentId}-00-what-will-come`, false],
    ['of a later version, of the same length', `cc-${traceId}-${parentId}-03`, true],
    ['with flags that nobody knows', `00-${traceId}-${parentId}-fe`, false],
  ])('%s', (_, text, isSampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId, parentId, isSampled })
  })

  it.each([
    ['nothing', ''],
    ['version ff', `ff-${traceId}-${parentId}-01`],
    ['upper-case hex', `00-${traceId.toUpperCase()}-${parentId}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['a parent of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['more than version 00 has', `00-${traceId}-${parentId}-01-more`],
    ['a later version without its hyphen', `01-${traceId}-${parentId}-01more`],
    ['a trace that is too short', `00-${traceId.slice(1)}-${parentId}-01`],
    ['a trace that is too long', `00-${traceId}0-${parentId}-01`],
    ['blanks around it', ` 00-${traceId}-${parentId}-01`],
    ['a line break', `00-${traceId}-${parentId}-01\n`],
    ['far too much', `01-${traceId}-${parentId}-01-${'x'.repeat(64 * 1024)}`],
  ])('is as if it were not there: %s', (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })

  it('never throws, and what it gives can be written and read again', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = parseTraceparent(text)
        return read === undefined || parseTraceparent(formatTraceparent(read)) !== undefined
      }),
    )
  })
})

it('the trace of a boot is the 16 bytes of its boot id', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const bootId = Buffer.from(bytes).toString('base64url') as BootId
      expect(traceIdOfBoot(bootId)).toBe(Buffer.from(bytes).toString('hex'))
    }),
  )
})

describe('the trace of a request', () => {
  const traceparent = `00-${traceId}-${parentId}-01`

  it.each<[string, Readonly<Record<string, string | string[]>>, object | undefined]>([
    ['nothing', {}, undefined],
    ['a traceparent', { traceparent }, { traceId, isSampled: true }],
    [
      'one that is not sampled',
      { traceparent: traceparent.replace(/01$/, '00') },
      { traceId, isSampled: false },
    ],
    ['its state', { traceparent, tracestate: 'a=1,b=2' }, { traceId, isSampled: true, state: 'a=1,b=2' }],
    [
      'state in several headers',
      { traceparent, tracestate: ['a=1', 'b=2'] },
      { traceId, isSampled: true, state: 'a=1,b=2' },
    ],
    ['state alone', { tracestate: 'a=1' }, undefined],
    ['state that is too long', { traceparent, tracestate: 'x'.repeat(513) }, { traceId, isSampled: true }],
    ['state with a control byte', { traceparent, tracestate: 'a=\u001b' }, { traceId, isSampled: true }],
    ['empty state', { traceparent, tracestate: '' }, { traceId, isSampled: true }],
    ['a traceparent that came twice', { traceparent: `${traceparent}, ${traceparent}` }, undefined],
    ['nonsense', { traceparent: 'x'.repeat(5000) }, undefined],
  ])('is read from %s', (_, headers, trace) => {
    expect(readRequestTrace(headers)).toEqual(trace)
  })

  it('goes on with a request of ours, under its own name', () => {
    const span = 'b7ad6b7169203331'
    expect(traceHeaders({ traceId, isSampled: true, state: 'a=1' }, span)).toEqual({
      traceparent: `00-${traceId}-${span}-01`,
      tracestate: 'a=1',
    })
    expect(traceHeaders({ traceId, isSampled: false }, span)).toEqual({
      traceparent: `00-${traceId}-${span}-00`,
    })
  })
})
