import type { TransferProgress } from '../boot-attempt.ts'
import type { AttemptFacts, FileFacts } from './attempt-facts.ts'

/** The file that the machine fetches, or the last one that it fetched; of its loader only while there is nothing else. */
export function transferOf({ files }: Pick<AttemptFacts, 'files'>): TransferProgress | undefined {
  let last: FileFacts | undefined
  for (const file of files.values()) {
    if (file.role === 'other' || file.role === 'script' || file.totalBytes === undefined) continue
    if (file.wholes === 0 && !file.isOpen && file.cuts === 0 && file.reachedBytes === 0) continue
    if (last === undefined || file.lastAt >= last.lastAt) last = file
  }
  if (last?.totalBytes === undefined) return undefined
  return {
    role: last.role,
    ...(last.name === undefined ? {} : { name: last.name }),
    sentBytes: Math.min(last.reachedBytes, last.totalBytes),
    totalBytes: last.totalBytes,
    ...rateOf(last),
    isDone: last.wholes > 0 && !last.isOpen,
  }
}

function rateOf(file: FileFacts): { readonly bytesPerSecond?: number } {
  const { before, isOpen, lastAt, reachedBytes } = file
  if (!isOpen || before === undefined || lastAt <= before.at || reachedBytes < before.bytes) return {}
  return { bytesPerSecond: Math.round(((reachedBytes - before.bytes) * 1000) / (lastAt - before.at)) }
}
