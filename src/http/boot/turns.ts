/** Hands out turns of the event loop, first come, first served. */
export interface Turns {
  /** Resolves when it is the caller's turn to do one slice of work. */
  next(): Promise<void>
}

/**
 * Bulk transfers must not hold the loop: a DISCOVER or a script waits for all that one turn does. So at most
 * `perTurn` slices are handed to sockets between two looks at the network, however many clients are as fast as we
 * are.
 */
export function createTurns(perTurn: number): Turns {
  let waiting: (() => void)[] = []
  let isScheduled = false

  function runTurn(): void {
    isScheduled = false
    const batch = waiting.slice(0, perTurn)
    waiting = waiting.slice(perTurn)
    schedule()
    for (const go of batch) go()
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    setImmediate(runTurn)
  }

  return {
    next() {
      return new Promise((resolve) => {
        waiting.push(resolve)
        schedule()
      })
    },
  }
}
