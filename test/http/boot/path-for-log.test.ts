import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathForLog } from '../../../src/http/boot/path-for-log.ts'

const token = `Ab_-${'x1'.repeat(30)}`
const digest = '0123456789abcdef'.repeat(4)

describe('a path in the log', () => {
  it.each([
    ['/ipxe?mac=52:54:00:00:00:01', '/ipxe'],
    [`/artifacts/${digest}/kernel`, `/artifacts/${digest}/kernel`],
    ['/streams/ignition-stable.json', '/streams/ignition-stable.json'],
    [`/ignition/${token}`, '/ignition/…'],
    [`/report/${token}`, '/report/…'],
    [`//ignition//${token}/x`, '//ignition/…'],
    [`/Ignition/${token.slice(0, 20)}`, '/Ignition/…'],
    [`/%69gnition%2f${token}`, '/ignition/…'],
    [`/ignition\\${token}`, '/ignition/…'],
    [`/x/${token}`, '/x/…'],
  ])('%s is told as %s', (url, shown) => {
    expect(pathForLog(url)).toBe(shown)
  })

  it('G12 holds no token, wherever it stood', () => {
    const parts = fc.array(fc.constantFrom('ignition', 'report', '', 'x', '..', '%2e', token), {
      minLength: 1,
    })
    fc.assert(
      fc.property(parts, fc.constantFrom('', '%00', '%'), (segments, end) => {
        expect(pathForLog(`/${segments.join('/')}${end}`)).not.toContain(token.slice(0, 32))
      }),
    )
  })
})
