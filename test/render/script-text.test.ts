import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRequestTarget } from '../../src/http/boot/request-target.ts'
import { urlFileName } from '../../src/render/script-text.ts'

describe('urlFileName', () => {
  it('G1 makes one part of a path of any name, which our listener reads as it stands', () => {
    const anyName = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ maxLength: 20 }))
    fc.assert(
      fc.property(anyName, fc.constantFrom('', '.sig', '..', '%2e'), (name, suffix) => {
        const part = urlFileName(`${name}${suffix}`)
        expect(parseRequestTarget(`/artifacts/0/${part}`)).toEqual({
          kind: 'path',
          segments: ['artifacts', '0', part],
          query: '',
        })
        // That is how the signature of a file is asked for.
        expect(part.endsWith('.sig')).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['kernel.sig', 'kernel.sig_'],
    ['..', 'file'],
    ['', 'file'],
    ['a b?c#d%e', 'a_b_c_d_e'],
    ['.hidden', '.hidden'],
  ])('%s becomes %s', (name, expected) => {
    expect(urlFileName(name)).toBe(expected)
  })
})
