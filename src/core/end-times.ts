/** Moments at which something ends, each as often as it was added. Times are ms since the epoch. */
export interface EndTimes {
  add(end: number | undefined): void
  remove(end: number | undefined): void
  /** The first one after `now`; `Infinity` when there is none. */
  nextAfter(now: number): number
}

/** Sorted, so that a clock that is set back finds ends that had passed; most ends are the same few dates. */
export function createEndTimes(): EndTimes {
  const counts = new Map<number, number>()
  const sorted: number[] = []
  /** How many are at most `end`. */
  function placeAfter(end: number): number {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] ?? 0) <= end) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(end) {
      if (end === undefined || Number.isNaN(end)) return
      const count = counts.get(end) ?? 0
      counts.set(end, count + 1)
      if (count === 0) sorted.splice(placeAfter(end), 0, end)
    },
    remove(end) {
      const count = end === undefined ? undefined : counts.get(end)
      if (end === undefined || count === undefined) return
      if (count > 1) {
        counts.set(end, count - 1)
        return
      }
      counts.delete(end)
      sorted.splice(placeAfter(end) - 1, 1)
    },
    nextAfter: (now) => sorted[placeAfter(now)] ?? Number.POSITIVE_INFINITY,
  }
}
