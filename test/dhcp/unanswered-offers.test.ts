import { describe, expect, it } from 'vitest'
import { noteOffer, type OfferRecord } from '../../src/dhcp/unanswered-offers.ts'

function offers(...xids: readonly number[]): OfferRecord[] {
  let record: OfferRecord | undefined
  return xids.map((xid) => {
    record = noteOffer(record, xid)
    return record
  })
}

describe('offers without a follow-up (case 5)', () => {
  it('are told after the fourth of one run', () => {
    expect(offers(9, 9, 9, 9, 9).map(({ isUnanswered }) => isUnanswered)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })

  it('of different runs do not add up, since each may have gone on unseen', () => {
    expect(offers(1, 1, 1, 2, 2, 2, 3, 3, 3).some(({ isUnanswered }) => isUnanswered)).toBe(false)
  })

  it('stay told in the next run', () => {
    expect(offers(1, 1, 1, 1, 2).at(-1)).toEqual({ xid: 2, offers: 1, isUnanswered: true })
  })
})
