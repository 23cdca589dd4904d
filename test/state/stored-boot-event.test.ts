import { describe, expect, it } from 'vitest'
import { readBootEvent } from '../../src/state/stored-boot-event.ts'
import { wholeEvents } from '../fakes/stored-attempts.ts'

const wrong: readonly unknown[] = [null, [], {}, '\u0000', true, Number.NaN, 'no such word']

describe('an event that was kept', () => {
  it.each(Object.values(wholeEvents))('$type comes back as it was', (event) => {
    expect(readBootEvent(JSON.parse(JSON.stringify(event)))).toEqual(event)
  })

  it.each(Object.values(wholeEvents))('of $type, fields that nobody knows are left out', (event) => {
    expect(readBootEvent({ ...event, __proto__: { x: 1 }, shade: 'mauve' })).toEqual(event)
  })

  it('no field takes whatever stands there', () => {
    for (const event of Object.values(wholeEvents)) {
      for (const name of Object.keys(event)) {
        const refused = wrong.filter((value) => {
          try {
            readBootEvent({ ...event, [name]: value })
            return false
          } catch (error) {
            expect(error).toBeInstanceOf(TypeError)
            return true
          }
        })
        expect(refused.length, `${event.type}.${name}`).toBeGreaterThan(3)
      }
    }
  })

  it.each([
    [undefined, /no object/],
    [null, /no object/],
    ['decided', /no object/],
    [{}, /undefined is no event that is known/],
    [{ type: 'constructor' }, /"constructor" is no event that is known/],
    [{ type: 'decided', at: 1 }, /not text/],
    [{ ...wholeEvents.decided, reasons: [] }, /a decision without a reason/],
    [{ ...wholeEvents.decided, mac: 'none' }, /"none" is not understood/],
    [{ ...wholeEvents.decided, kind: 'toString' }, /"toString" is not known/],
    [{ ...wholeEvents.decided, reason: 'hasOwnProperty' }, /"hasOwnProperty" is no reason/],
  ])('%j is refused, and what is wrong is said', (value, message) => {
    expect(() => readBootEvent(value)).toThrow(message)
  })
})
