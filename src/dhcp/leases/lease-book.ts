import type { Ipv4 } from '../../core/ipv4.ts'
import type { ClientKey } from '../hardware-address.ts'
import type { LeaseChange } from './lease.ts'

/** One address that belongs, or belonged, to one client. */
export interface Lease {
  readonly address: Ipv4
  readonly key: ClientKey
  /** Seconds since the epoch. Past: the address is free, and still remembered as this client's. */
  until: number
  /** `until` as far as it is stored: an acknowledgement must not promise more. */
  durableUntil: number
}

/** A search of all leases that found nothing is not repeated for this long. */
const sweepPauseSeconds = 10

/**
 * Who has, and who had, which address of one subnet. One lease an address, one address a client. Everything is kept in
 * the order in which it runs out, so that nothing is ever searched for.
 */
export class LeaseBook {
  readonly #byAddress = new Map<Ipv4, Lease>()
  readonly #byKey = new Map<ClientKey, Lease>()
  /** In the order of their last acknowledgement, so that the front expires first. */
  readonly #leased = new Set<Lease>()
  /** Expired or given back, and not on offer; the longest free first. */
  readonly #free = new Set<Lease>()
  /** Rest until a second, the oldest first. */
  readonly #declined = new Map<Ipv4, number>()
  readonly #onNobodys: (address: Ipv4) => void
  readonly #isOnOffer: (address: Ipv4) => boolean
  #sweptAt = Number.NEGATIVE_INFINITY

  /**
   * @param onNobodys an address has become fresh again: no machine is remembered with it
   * @param isOnOffer whether an address is promised to somebody, so that it is not free although nobody leases it
   */
  constructor(settings: { onNobodys: (address: Ipv4) => void; isOnOffer: (address: Ipv4) => boolean }) {
    this.#onNobodys = settings.onNobodys
    this.#isOnOffer = settings.isOnOffer
  }

  get leasedCount(): number {
    return this.#leased.size
  }

  get declinedCount(): number {
    return this.#declined.size
  }

  at(address: Ipv4): Lease | undefined {
    return this.#byAddress.get(address)
  }

  of(key: ClientKey): Lease | undefined {
    return this.#byKey.get(key)
  }

  isResting(address: Ipv4): boolean {
    return this.#declined.has(address)
  }

  /** Free addresses that some machine is remembered with, the longest free first. */
  free(now: number): IterableIterator<Lease> {
    if (this.#free.size === 0) this.#sweep(now)
    return this.#free.values()
  }

  /** Leases `address` until then; what the client had here before, and who had the address, are forgotten. */
  lease(key: ClientKey, address: Ipv4, until: number): Lease {
    const known = this.#byAddress.get(address)
    const lease = known?.key === key ? known : this.#take(key, address)
    lease.until = until
    this.#free.delete(lease)
    this.#leased.delete(lease)
    this.#leased.add(lease)
    return lease
  }

  /** The lease ends now, and stays remembered. */
  end(lease: Lease, now: number): void {
    lease.until = now
    this.#leased.delete(lease)
    this.#setFree(lease)
  }

  /** Nobody gets the address for a while, and nobody is remembered with it. */
  rest(address: Ipv4, until: number): void {
    const lease = this.#byAddress.get(address)
    if (lease) this.#forget(lease)
    this.#declined.set(address, until)
  }

  /** An address that is on offer is not free for others; its memory stays. */
  withhold(address: Ipv4): void {
    const lease = this.#byAddress.get(address)
    if (lease) this.#free.delete(lease)
  }

  /** It is not on offer any more, and nobody took it. */
  giveBack(address: Ipv4): void {
    const lease = this.#byAddress.get(address)
    if (lease === undefined) this.#onNobodys(address)
    else if (!this.#leased.has(lease)) this.#setFree(lease)
  }

  /** Takes over one change that a store remembers. */
  restore(change: LeaseChange, now: number): void {
    const { address, until } = change
    const holder = this.#byAddress.get(address)
    if (holder) this.#forget(holder)
    this.#declined.delete(address)
    if (change.kind === 'declined') {
      if (until > now) this.#declined.set(address, until)
      return
    }
    const lease = this.#take(change.key, address)
    lease.until = until
    lease.durableUntil = until
    if (until > now) this.#leased.add(lease)
    else this.#setFree(lease)
  }

  /** Everything that a store must remember, for a rewrite. */
  *changes(now: number): Generator<LeaseChange> {
    for (const [address, until] of this.#declined) yield { kind: 'declined', address, until }
    const byEnd = [...this.#byAddress.values()].sort((a, b) => a.until - b.until)
    for (const { address, key, until } of byEnd)
      yield { kind: until > now ? 'leased' : 'released', address, key, until }
  }

  /** Lets go of what has run out. */
  settle(now: number): void {
    for (const lease of this.#leased) {
      if (lease.until > now) break
      this.#expire(lease)
    }
    for (const [address, until] of this.#declined) {
      if (until > now) break
      this.#declined.delete(address)
      this.#onNobodys(address)
    }
  }

  /** Leases for a shorter time than others may have run out behind those. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < sweepPauseSeconds) return
    this.#sweptAt = now
    for (const lease of this.#leased) if (lease.until <= now) this.#expire(lease)
  }

  #expire(lease: Lease): void {
    this.#leased.delete(lease)
    this.#setFree(lease)
  }

  #setFree(lease: Lease): void {
    if (!this.#isOnOffer(lease.address)) this.#free.add(lease)
  }

  #take(key: ClientKey, address: Ipv4): Lease {
    const holder = this.#byAddress.get(address)
    if (holder) this.#forget(holder)
    const previous = this.#byKey.get(key)
    if (previous) {
      this.#forget(previous)
      this.#onNobodys(previous.address)
    }
    const lease: Lease = { address, key, until: 0, durableUntil: 0 }
    this.#byAddress.set(address, lease)
    this.#byKey.set(key, lease)
    return lease
  }

  #forget(lease: Lease): void {
    this.#byAddress.delete(lease.address)
    if (this.#byKey.get(lease.key) === lease) this.#byKey.delete(lease.key)
    this.#leased.delete(lease)
    this.#free.delete(lease)
  }
}
