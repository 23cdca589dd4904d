import type { Ipv4 } from '../../core/ipv4.ts'
import type { DhcpSubnet } from '../dhcp-settings.ts'
import type { ClientKey } from '../hardware-address.ts'
import { type AddressRanges, createAddressRanges } from './address-ranges.ts'
import { HeldOffers } from './held-offers.ts'
import type { LeaseChange } from './lease.ts'
import { type Lease, LeaseBook } from './lease-book.ts'

export interface PoolSettings {
  readonly subnet: DhcpSubnet
  /** Whether an address is kept for a host record; such addresses are handed out to that host alone. */
  readonly isReserved: (address: Ipv4) => boolean
  /** Never handed out: our own addresses. */
  readonly isOurs: (address: Ipv4) => boolean
}

export interface WantedAddress {
  /** Option 50. */
  readonly requested: Ipv4 | undefined
  /** What the client's host record says. */
  readonly reserved: Ipv4 | undefined
}

/** Why an address cannot be the client's. */
export type BindRefusal =
  | 'outside-subnet'
  | 'outside-ranges'
  | 'reserved-for-another'
  | 'leased-to-another'
  | 'declined-lately'
  /** A host record names another address for this client, and that one is free. */
  | 'reserved-elsewhere'

export type Binding =
  | { readonly lease: Lease; readonly change: LeaseChange | undefined }
  | { readonly lease?: undefined; readonly reason: BindRefusal }

export interface PoolUsage {
  readonly size: number
  readonly leased: number
  readonly offered: number
  readonly declined: number
}

/** How long an offered address waits for its REQUEST. EDK2 gathers offers for 32 s in its last try. */
const offerHoldSeconds = 40
const maxHeldOffers = 4096
/** How long an address rests that a client found in use (RFC 2131 §4.3.3). */
const declineRestSeconds = 15 * 60
/** A search of the whole pool that found nothing is not repeated for this long. */
const searchPauseSeconds = 10

/**
 * The addresses of one subnet: who has which, until when. All of it in memory; time comes in with every call, in seconds
 * since the epoch. An active lease is never given away. Who comes again gets its address again. A new client gets a fresh
 * address chosen by its key, so that even without the log most machines get theirs back; only when all have been used is
 * the one taken over that has been free the longest.
 */
export class LeasePool {
  readonly subnet: DhcpSubnet
  readonly #ranges: AddressRanges
  readonly #isReserved: (address: Ipv4) => boolean
  readonly #isOurs: (address: Ipv4) => boolean
  /** Nobody's any more, and so as good as fresh; known without a search. */
  readonly #returned = new Set<Ipv4>()
  readonly #book = new LeaseBook({
    onNobodys: (address) => this.#returned.add(address),
    isOnOffer: (address) => this.#offers.has(address),
  })
  readonly #offers = new HeldOffers({
    holdSeconds: offerHoldSeconds,
    capacity: maxHeldOffers,
    onEnd: (address) => this.#book.giveBack(address),
  })
  #searchedAt = Number.NEGATIVE_INFINITY
  #settledAt = Number.NaN

  constructor({ subnet, isReserved, isOurs }: PoolSettings) {
    this.subnet = subnet
    this.#ranges = createAddressRanges(subnet)
    this.#isReserved = isReserved
    this.#isOurs = isOurs
  }

  leaseOf(key: ClientKey): Lease | undefined {
    return this.#book.of(key)
  }

  usage(now: number): PoolUsage {
    this.#settle(now)
    const { leasedCount, declinedCount } = this.#book
    return {
      size: this.#ranges.size,
      leased: leasedCount,
      offered: this.#offers.size,
      declined: declinedCount,
    }
  }

  /**
   * The address to offer: reserved, else the client's own, else the one it asks for, else a free one. `undefined` when
   * the pool is exhausted: every address is leased, and there is no unanswered offer that could be taken back.
   */
  offer(key: ClientKey, now: number, { reserved, requested }: WantedAddress): Ipv4 | undefined {
    this.#settle(now)
    const own = this.#book.of(key)
    const address =
      this.#ifAvailable(key, reserved, now) ??
      this.#ifAvailable(key, this.#ifDynamic(own?.address), now) ??
      this.#ifAvailable(key, this.#ifDynamic(this.#offers.addressOf(key)), now) ??
      this.#ifFresh(requested) ??
      this.#freshAddress(key, now) ??
      this.#longestFree(now) ??
      this.#oldestOffer()
    if (address === undefined) return undefined
    const isActiveLease = own?.address === address && own.until > now
    if (!isActiveLease) this.#hold(key, address, now)
    return address
  }

  /**
   * Gives `address` to the client, or says why not; another address that it had here becomes free. A lease with most of
   * its time left is granted for what is left, without a change to store: firmware, iPXE and the OS of one boot each ask
   * within a minute.
   */
  bind(
    key: ClientKey,
    address: Ipv4,
    now: number,
    leaseSeconds: number,
    reserved: Ipv4 | undefined,
  ): Binding {
    this.#settle(now)
    const refusal = this.#bindRefusal(key, address, now, reserved)
    if (refusal) return { reason: refusal }
    this.#offers.take(address)
    const holder = this.#book.at(address)
    if (holder?.key === key && isFresh(holder, now, leaseSeconds))
      return { lease: holder, change: unstored(holder) }
    this.#returned.delete(address)
    const lease = this.#book.lease(key, address, now + leaseSeconds)
    return { lease, change: { kind: 'leased', address, key, until: lease.until } }
  }

  /** A change is stored: acknowledgements may promise it. */
  noteStored(change: LeaseChange): void {
    if (change.kind !== 'leased') return
    const lease = this.#book.at(change.address)
    if (lease?.key === change.key && lease.durableUntil < change.until) lease.durableUntil = change.until
  }

  /** The client gives its address back; it stays remembered as the client's own until somebody needs it. */
  release(key: ClientKey, address: Ipv4, now: number): LeaseChange | undefined {
    const lease = this.#activeLease(key, address, now)
    if (lease === undefined) return undefined
    this.#book.end(lease, now)
    return { kind: 'released', address, key, until: now }
  }

  /**
   * The client found somebody else at its address: nobody gets it for a while. Only the client that leases it is
   * believed, or a few words could use up the pool.
   */
  decline(key: ClientKey, address: Ipv4, now: number): LeaseChange | undefined {
    if (this.#activeLease(key, address, now) === undefined) return undefined
    const until = now + declineRestSeconds
    this.#offers.take(address)
    this.#book.rest(address, until)
    return { kind: 'declined', address, until }
  }

  /** The client went to another server: what it was offered is free again. */
  withdrawOffer(key: ClientKey): void {
    const address = this.#offers.addressOf(key)
    if (address !== undefined) this.#offers.end(address)
  }

  /** Takes over one change that a store remembers; in the order in which they were made. */
  restore(change: LeaseChange, now: number): void {
    if (this.#ranges.isHostAddress(change.address)) this.#book.restore(change, now)
  }

  /** Everything that a store must remember, for a rewrite. */
  changes(now: number): Iterable<LeaseChange> {
    return this.#book.changes(now)
  }

  #bindRefusal(
    key: ClientKey,
    address: Ipv4,
    now: number,
    reserved: Ipv4 | undefined,
  ): BindRefusal | undefined {
    if (!this.#ranges.isHostAddress(address) || this.#isOurs(address)) return 'outside-subnet'
    const holder = this.#book.at(address)
    if (holder !== undefined && holder.key !== key && holder.until > now) return 'leased-to-another'
    if (this.#book.isResting(address)) return 'declined-lately'
    if (address === reserved) return undefined
    if (this.#ifAvailable(key, reserved, now) !== undefined) return 'reserved-elsewhere'
    if (this.#isReserved(address)) return 'reserved-for-another'
    return this.#ranges.isInRanges(address) ? undefined : 'outside-ranges'
  }

  #activeLease(key: ClientKey, address: Ipv4, now: number): Lease | undefined {
    const lease = this.#book.of(key)
    return lease?.address === address && lease.until > now ? lease : undefined
  }

  /** `address`, if this client may have it: it does not rest, and nobody else leases it. */
  #ifAvailable(key: ClientKey, address: Ipv4 | undefined, now: number): Ipv4 | undefined {
    if (address === undefined || !this.#ranges.isHostAddress(address) || this.#book.isResting(address))
      return undefined
    const holder = this.#book.at(address)
    return holder === undefined || holder.key === key || holder.until <= now ? address : undefined
  }

  #ifFresh(address: Ipv4 | undefined): Ipv4 | undefined {
    return address !== undefined && this.#isFreshDynamic(address) ? address : undefined
  }

  #ifDynamic(address: Ipv4 | undefined): Ipv4 | undefined {
    return address !== undefined && this.#isDynamic(address) ? address : undefined
  }

  /** An address that nobody ever had. The search starts where the client's key points to. */
  #freshAddress(key: ClientKey, now: number): Ipv4 | undefined {
    const { size } = this.#ranges
    if (size > 0 && now - this.#searchedAt >= searchPauseSeconds) {
      const start = hash(key) % size
      for (let step = 0; step < size; step++) {
        const address = this.#ranges.at((start + step) % size)
        if (this.#isFreshDynamic(address)) return address
      }
      this.#searchedAt = now
    }
    for (const address of this.#returned) {
      this.#returned.delete(address)
      if (this.#isFreshDynamic(address)) return address
    }
    return undefined
  }

  #longestFree(now: number): Ipv4 | undefined {
    for (const { address } of this.#book.free(now)) if (this.#isDynamic(address)) return address
    return undefined
  }

  #oldestOffer(): Ipv4 | undefined {
    for (const address of this.#offers.addresses()) if (this.#isDynamic(address)) return address
    return undefined
  }

  #hold(key: ClientKey, address: Ipv4, now: number): void {
    if (this.#offers.isHeldSince(key, address, now)) return
    this.#returned.delete(address)
    this.#offers.hold(address, key, now)
    this.#book.withhold(address)
  }

  /** Nothing runs out twice in one second. */
  #settle(now: number): void {
    if (now === this.#settledAt) return
    this.#settledAt = now
    this.#offers.endExpired(now)
    this.#book.settle(now)
  }

  /** Whether it may go to anybody: in the ranges, not ours, not kept for a host. */
  #isDynamic(address: Ipv4): boolean {
    return (
      this.#ranges.isInRanges(address) &&
      this.#ranges.isHostAddress(address) &&
      !this.#isOurs(address) &&
      !this.#isReserved(address)
    )
  }

  #isFreshDynamic(address: Ipv4): boolean {
    if (this.#book.at(address) || this.#offers.has(address) || this.#book.isResting(address)) return false
    return this.#isDynamic(address)
  }
}

/** Three quarters of the time are left. */
function isFresh({ until }: Lease, now: number, leaseSeconds: number): boolean {
  return until <= now + leaseSeconds && until - now >= leaseSeconds * 0.75
}

/** A lease that is not stored yet is stored with the acknowledgement that repeats it. */
function unstored({ address, key, until, durableUntil }: Lease): LeaseChange | undefined {
  return durableUntil >= until ? undefined : { kind: 'leased', address, key, until }
}

/** FNV-1a; it spreads keys over the ranges, and nothing depends on its quality. */
function hash(key: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < key.length; index++)
    value = Math.imul(value ^ key.charCodeAt(index), 0x01000193) >>> 0
  return value
}
