import type { Ipv4 } from '../../core/ipv4.ts'
import type { ClientKey } from '../hardware-address.ts'

interface HeldOffer {
  readonly key: ClientKey
  /** Seconds since the epoch. */
  readonly until: number
}

/**
 * Addresses that were offered and wait for their REQUEST: one a client, the oldest first, bounded in number. Whatever
 * ends without a REQUEST is handed to `onEnd`.
 */
export class HeldOffers {
  readonly #byAddress = new Map<Ipv4, HeldOffer>()
  readonly #byKey = new Map<ClientKey, Ipv4>()
  readonly #holdSeconds: number
  readonly #capacity: number
  readonly #onEnd: (address: Ipv4) => void

  constructor(settings: { holdSeconds: number; capacity: number; onEnd: (address: Ipv4) => void }) {
    this.#holdSeconds = settings.holdSeconds
    this.#capacity = settings.capacity
    this.#onEnd = settings.onEnd
  }

  get size(): number {
    return this.#byAddress.size
  }

  has(address: Ipv4): boolean {
    return this.#byAddress.has(address)
  }

  addressOf(key: ClientKey): Ipv4 | undefined {
    return this.#byKey.get(key)
  }

  /** Whether it was offered to this client in this very second: machines ask as fast as they get answers. */
  isHeldSince(key: ClientKey, address: Ipv4, now: number): boolean {
    const offer = this.#byAddress.get(address)
    return offer !== undefined && offer.until === now + this.#holdSeconds && offer.key === key
  }

  /** All held addresses, the oldest offer first. */
  addresses(): IterableIterator<Ipv4> {
    return this.#byAddress.keys()
  }

  hold(address: Ipv4, key: ClientKey, now: number): void {
    const previous = this.#byKey.get(key)
    if (previous !== undefined && previous !== address) this.end(previous)
    this.#remove(address)
    this.#byAddress.set(address, { key, until: now + this.#holdSeconds })
    this.#byKey.set(key, address)
    if (this.#byAddress.size > this.#capacity) this.#endOldest()
  }

  /** The offer was taken up, or the address given to somebody else: nothing is handed to `onEnd`. */
  take(address: Ipv4): void {
    this.#remove(address)
  }

  end(address: Ipv4): void {
    if (this.#remove(address)) this.#onEnd(address)
  }

  endExpired(now: number): void {
    for (const [address, { until }] of this.#byAddress) {
      if (until > now) return
      this.end(address)
    }
  }

  #endOldest(): void {
    for (const address of this.#byAddress.keys()) {
      this.end(address)
      return
    }
  }

  #remove(address: Ipv4): boolean {
    const offer = this.#byAddress.get(address)
    if (offer === undefined) return false
    this.#byAddress.delete(address)
    if (this.#byKey.get(offer.key) === address) this.#byKey.delete(offer.key)
    return true
  }
}
