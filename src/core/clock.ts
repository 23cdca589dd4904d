/** Time as an input. Milliseconds since the epoch. */
export interface Clock {
  now(): number
}

/** One-shot timers as an input, so that tests move time by hand. */
export interface Timers {
  /** Calls `run` once after `delayMs`; the returned function cancels it. Never keeps the process alive by itself. */
  after(delayMs: number, run: () => void): () => void
}
