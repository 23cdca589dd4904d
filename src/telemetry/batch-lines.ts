import type { LogDestination } from './create-log.ts'

export interface LineBatch extends LogDestination {
  /** Writes what waits, at once. */
  flush(): void
}

/** Far more than a turn brings; a text that grew without end would cost more than it saves. */
const longestBatch = 64 * 1024

/**
 * Writes the lines of one turn of the event loop together: a rack that powers on makes thousands a second, and each
 * write is a system call in the thread that serves. So a `kill -9` can lose the lines of one turn, some milliseconds;
 * whoever makes a batch flushes it when the process ends.
 */
export function batchLines(
  destination: LogDestination,
  defer: (run: () => void) => unknown = setImmediate,
): LineBatch {
  let waiting = ''

  function flush(): void {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    destination.write(text)
  }

  return {
    ...(destination.isTTY !== undefined && { isTTY: destination.isTTY }),
    write(text) {
      if (waiting === '') defer(flush)
      waiting += text
      if (waiting.length >= longestBatch) flush()
    },
    flush,
  }
}
