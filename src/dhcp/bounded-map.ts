/** A map that forgets what was set longest ago, so that clients that nobody knows cannot fill the memory. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#capacity) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }
}
