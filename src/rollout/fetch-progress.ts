import type { FetchEvent } from '../artifacts/fetcher.ts'
import { artifactsOf, type Bootimage } from '../core/bootimage.ts'
import type { Sha256 } from '../core/digest.ts'

export interface SetProgress {
  readonly doneBytes: number
  /** Absent while a part's size is not known. */
  readonly totalBytes?: number
  readonly bytesPerSecond: number
}

/** How far each set is, put together from the events of its files. */
export interface FetchProgress {
  onFetchEvent(event: FetchEvent): void
  /** `present` tells the size of a file that is there already. */
  of(bootimage: Bootimage, present: (sha256: Sha256) => number | undefined): SetProgress
}

interface FileProgress {
  readonly doneBytes: number
  readonly totalBytes?: number
  readonly bytesPerSecond: number
}

export function createFetchProgress(): FetchProgress {
  const files = new Map<Sha256, FileProgress>()
  return {
    onFetchEvent(event) {
      if (event.type === 'finished') files.delete(event.sha256)
      if (event.type === 'progress') files.set(event.sha256, event)
    },
    of(bootimage, present) {
      let doneBytes = 0
      let totalBytes: number | undefined = 0
      let bytesPerSecond = 0
      for (const { sha256, sizeBytes } of artifactsOf(bootimage)) {
        const there = present(sha256)
        const running = files.get(sha256)
        doneBytes += there ?? running?.doneBytes ?? 0
        bytesPerSecond += running?.bytesPerSecond ?? 0
        const size: number | undefined = there ?? running?.totalBytes ?? sizeBytes
        totalBytes = totalBytes === undefined || size === undefined ? undefined : totalBytes + size
      }
      return { doneBytes, totalBytes, bytesPerSecond }
    },
  }
}
