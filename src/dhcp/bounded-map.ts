/** A map that forgets what came first when it is full, so that clients that nobody knows cannot fill the memory. */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  /** A known key keeps its place in line: moving it would cost more than it is worth on every packet. */
  set(key: K, value: V): void {
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
