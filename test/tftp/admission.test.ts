import { describe, expect, it } from 'vitest'
import { createAdmission, type PlaceHolder } from '../../src/tftp/admission.ts'

function setup(limits: { total: number; perClient: number }) {
  const admission = createAdmission(limits)
  const evicted: string[] = []
  function ask(clientAddress: string, admittedAt: number) {
    const holder: PlaceHolder = {
      clientAddress,
      admittedAt,
      evict() {
        evicted.push(`${clientAddress} ${admittedAt}`)
        admission.release(holder)
      },
    }
    return { holder, result: admission.admit(holder) }
  }
  return { admission, evicted, ask }
}

describe('places for transfers (case 78)', () => {
  it('everybody within the limits', () => {
    const { admission, ask } = setup({ total: 3, perClient: 2 })
    expect(['a', 'a', 'b'].map((client) => ask(client, 0).result)).toEqual(Array(3).fill('admitted'))
    expect(admission.held).toBe(3)
  })

  it('beyond them nobody, and the reason is told', () => {
    const { ask } = setup({ total: 3, perClient: 2 })
    ask('a', 0)
    ask('a', 0)
    expect(ask('a', 1).result).toBe('limit-per-client')
    ask('b', 0)
    expect(ask('c', 1).result).toBe('limit-total')
  })

  it('a place that was given back is free', () => {
    const { admission, ask } = setup({ total: 1, perClient: 1 })
    const { holder } = ask('a', 0)
    admission.release(holder)
    expect(admission.held).toBe(0)
    expect(ask('b', 0).result).toBe('admitted')
  })

  it('whoever was never heard makes room after half a second, the oldest first', () => {
    const { admission, evicted, ask } = setup({ total: 3, perClient: 3 })
    const heard = ask('a', 0)
    admission.confirm(heard.holder)
    ask('b', 10)
    ask('c', 20)
    expect(ask('d', 500).result).toBe('limit-total')
    expect(ask('d', 511).result).toBe('admitted')
    expect(ask('e', 600).result).toBe('admitted')
    expect(evicted).toEqual(['b 10', 'c 20'])
    expect(ask('f', 700).result).toBe('limit-total')
  })

  it('a client at its own limit takes the place of its own forgotten request, not of another', () => {
    const { evicted, ask } = setup({ total: 10, perClient: 1 })
    ask('a', 0)
    ask('b', 0)
    expect(ask('b', 600).result).toBe('admitted')
    expect(evicted).toEqual(['b 0'])
  })

  it('a flood of forged requests holds no more than the limit, and honest clients get in', () => {
    const { admission, ask } = setup({ total: 100, perClient: 10 })
    for (let at = 0; at < 50_000; at += 1) ask(`forged ${at}`, at / 10)
    expect(admission.held).toBe(100)
    const honest = [5_601, 5_602, 5_603].map((at) => ask('honest', at))
    expect(honest.map(({ result }) => result)).toEqual(Array(3).fill('admitted'))
  })
})
