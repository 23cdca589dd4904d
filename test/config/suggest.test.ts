import { describe, expect, it } from 'vitest'
import { suggestion } from '../../src/config/suggest.ts'

describe('what was probably meant', () => {
  const words = ['listen', 'http', 'tftp', 'signatures', 'kernelArguments', 'off']
  it.each([
    ['lisen', 'did you mean "listen"?'],
    ['htpp', 'did you mean "http"?'],
    ['kernelarguments', 'did you mean "kernelArguments"?'],
    ['Signature', 'did you mean "signatures"?'],
  ])('%s', (found, hint) => {
    expect(suggestion(found, words)).toBe(hint)
  })

  it.each(['', 'something-else', 'x', 'ft', 'hat', 'x'.repeat(100_000)])(
    '%.20s is like none of them',
    (found) => {
      expect(suggestion(found, words)).toBeUndefined()
    },
  )
})
