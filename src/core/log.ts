/** The part of a logger that the inside of the house needs. Messages are fixed text, facts go into fields. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** For tests and tools that have nobody to tell. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
