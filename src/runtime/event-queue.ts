/** Events that are looked at a little later, in their order. */
export interface EventQueue<Event> {
  push(event: Event): void
  /** Handles what waits, at once. */
  drain(): void
}

/**
 * Handles the events of one turn of the event loop together at its end: a machine has its answer before the log and
 * the metrics hear of it, and counting fifty requests in a row costs a fraction of counting one between two others.
 */
export function createEventQueue<Event>(
  handle: (event: Event) => void,
  defer: (run: () => void) => unknown = setImmediate,
): EventQueue<Event> {
  let waiting: Event[] = []

  function drain(): void {
    const events = waiting
    waiting = []
    for (const event of events) handle(event)
  }

  return {
    push(event) {
      if (waiting.length === 0) defer(drain)
      waiting.push(event)
    },
    drain,
  }
}
