import { parentPort, workerData } from 'node:worker_threads'
import { readRecordsText } from './records-text.ts'

/** Handed over at a time: what serves takes them in slices, and answers boots in between. */
const recordsPerMessage = 500

/** Entry of the thread that reads large texts of records: a hundred thousand hosts take ten seconds. */
function readGivenText(port: NonNullable<typeof parentPort>): void {
  const { text, name } = workerData as { readonly text: string; readonly name: string }
  const { records, ...rest } = readRecordsText(text, name)
  let first = 0
  /** Each message asks for the next slice. */
  port.on('message', () => {
    const slice = records.slice(first, first + recordsPerMessage)
    first += slice.length
    if (slice.length > 0) {
      port.postMessage({ records: slice })
      return
    }
    port.postMessage(rest)
    port.close()
  })
}

if (parentPort !== null) readGivenText(parentPort)
