import { shownBytes } from './shown-bytes.ts'

export interface Progress {
  readonly label: string
  /** What comes, as the words begin with it. */
  readonly what?: string | undefined
  readonly done: number
  readonly total: number
  readonly bytesPerSecond?: number | undefined
}

export interface ShownProgress {
  readonly percent: number
  readonly label: string
  readonly text: string
}

/** Bytes that come as a bar and in words; nothing while nobody knows how many there will be. */
export function shownProgress({
  label,
  what,
  done,
  total,
  bytesPerSecond,
}: Progress): ShownProgress | undefined {
  if (!(total > 0)) return undefined
  const percent = Math.max(0, Math.min(100, Math.floor((done / total) * 100)))
  const rate = bytesPerSecond === undefined ? '' : `, ${shownBytes(bytesPerSecond)}/s`
  const of = what === undefined ? '' : `${what}: `
  return { percent, label, text: `${of}${shownBytes(done)} of ${shownBytes(total)}${rate}` }
}
