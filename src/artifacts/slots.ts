/** Lets a bounded number of tasks run at a time, first come first served; a waiting task can give up. */
export interface Slots {
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = []
  let free = count

  function acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(signal.reason)
      }
      const take = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      waiting.push(take)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  function release(): void {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return {
    async run(task, signal) {
      await acquire(signal)
      try {
        return await task()
      } finally {
        release()
      }
    },
  }
}
