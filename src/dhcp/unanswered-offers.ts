/** Offers to one client that it has not followed up. */
export interface OfferRecord {
  readonly xid: number
  /** DISCOVERs of this run that were answered. */
  readonly offers: number
  /** The client has let a whole run of offers pass; stays until it follows one up. */
  readonly isUnanswered: boolean
}

/** EDK2 asks four times, after 4, 8 and 16 s, before it gives up. */
export const unansweredOffers = 4

/**
 * Records an offer. Firmware that cannot join a proxy offer to the site's own, or drops this style of it, asks again and
 * again and never goes on (field case 5). Anything else that the client does is a follow-up: forget the record then.
 */
export function noteOffer(previous: OfferRecord | undefined, xid: number): OfferRecord {
  if (previous?.xid !== xid) return { xid, offers: 1, isUnanswered: previous?.isUnanswered ?? false }
  const offers = previous.offers + 1
  return { xid, offers, isUnanswered: previous.isUnanswered || offers >= unansweredOffers }
}
