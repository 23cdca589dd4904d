/** Of a file that is fetched in more parts than these, those at its end count once the holes before them are filled. */
const mostParts = 64

/** Which bytes of a file went out, in whatever parts and order. */
export class FileParts {
  /** Apart from each other, in order: first byte, and the one after the last. */
  #parts: (readonly [number, number])[] = []

  get bytes(): number {
    return this.#parts.reduce((sum, [from, to]) => sum + to - from, 0)
  }

  add(from: number, to: number): void {
    if (to <= from) return
    let [first, end] = [from, to]
    const apart = this.#parts.filter(([start, stop]) => {
      if (stop < first || start > end) return true
      first = Math.min(first, start)
      end = Math.max(end, stop)
      return false
    })
    // What was not joined is kept; what is beyond the bound is forgotten, so that nothing counts that did not go out.
    this.#parts = [...apart, [first, end] as const].sort(([a], [b]) => a - b).slice(0, mostParts)
  }

  covers(totalBytes: number): boolean {
    const [first] = this.#parts
    return first !== undefined && first[0] === 0 && first[1] >= totalBytes
  }

  clear(): void {
    this.#parts = []
  }
}
