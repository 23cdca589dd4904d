import { parentPort, workerData } from 'node:worker_threads'
import { readRecordsText } from './records-text.ts'

/** Handed over at a time: what serves takes them in slices, and answers boots in between. */
const recordsPerMessage = 500

/** Entry of the thread that reads large texts of records: a hundred thousand hosts take ten seconds. */
function readGivenText(port: NonNullable<typeof parentPort>): void {
  const { text, name } = workerData as { readonly text: string; readonly name: string }
  const { records, ...rest } = readRecordsText(text, name)
  for (let first = 0; first < records.length; first += recordsPerMessage) {
    port.postMessage({ records: records.slice(first, first + recordsPerMessage) })
  }
  port.postMessage(rest)
}

if (parentPort !== null) readGivenText(parentPort)
