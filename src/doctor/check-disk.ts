import { type Finding, findingsOf } from './finding.ts'

export interface DiskFacts {
  readonly path: string
  readonly freeBytes: number
  /** Left alone by the service. */
  readonly reserveBytes: number
}

export interface DiskWanted {
  /** Bootimages that are followed: one for each stream and architecture. */
  readonly followed: number
}

/** What kernel, initramfs and rootfs of one release take, rounded up. */
const setBytes = 1.5 * 2 ** 30

const { ok, warning, problem } = findingsOf('disk')

/** Whether the next release of everything that is followed still fits. */
export function checkDisk(disk: DiskFacts | undefined, { followed }: DiskWanted): readonly Finding[] {
  if (disk === undefined) return []
  const { path, freeBytes, reserveBytes } = disk
  const todo = 'see what can go with: pilotlight gc --dry-run; or put dataDir on a larger disk'
  const free = `${path} has ${gibibytes(freeBytes)} free`
  if (freeBytes < reserveBytes) return [problem(`${free}: nothing can be fetched`, todo)]
  const wanted = followed * setBytes + reserveBytes
  if (freeBytes < wanted) {
    return [
      warning(
        `${free}; one more release of all ${followed} followed bootimages takes about ${gibibytes(wanted)}`,
        todo,
      ),
    ]
  }
  return [ok(free)]
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}
