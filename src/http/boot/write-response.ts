import type { ServerResponse } from 'node:http'

/** A write that is under way. */
export interface Written {
  /** `false`: the connection is gone. Settles only when nobody reads the chunks any more. */
  readonly done: Promise<boolean>
  isDone(): boolean
}

/** Writes chunks of a body in one system call, and tells when the system has taken them all. */
export function writeResponse(response: ServerResponse, chunks: readonly Buffer[]): Written {
  let isDone = false
  const done = new Promise<boolean>((resolve) => {
    function settle(isTaken: boolean): void {
      isDone = true
      response.off('close', onClose)
      resolve(isTaken)
    }
    function onClose(): void {
      settle(false)
    }
    // A response whose socket went away calls no callback; its close comes when the system is done with the bytes.
    response.on('close', onClose)
    const last = chunks.length - 1
    // All writes of one tick leave in one system call.
    chunks.forEach((chunk, index) => {
      if (index < last) response.write(chunk)
      else response.write(chunk, (error) => settle(error === null || error === undefined))
    })
  })
  return { done, isDone: () => isDone }
}
