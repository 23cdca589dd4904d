import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../core/errors.ts'
import { type RecordsText, readRecordsText, type WrittenRecord } from './records-text.ts'

/** Shorter texts are read at once, in some 20 ms at most. */
const shortText = 16 * 1024

/** The compiled entry. Node 20 cannot start a thread from TypeScript, so that the sources use the build's. */
const entry = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/runtime/fleet/records-worker.js', import.meta.url)
  : new URL('./records-worker.js', import.meta.url)

type Message = { readonly records: readonly WrittenRecord[] } | Omit<RecordsText, 'records'>

/**
 * Reads a text of records, long ones in a thread of their own that ends with it.
 * @throws ServiceError INTERNAL when that thread dies, of too little memory for instance
 */
export function readRecords(text: string, name: string): Promise<RecordsText> {
  if (text.length <= shortText) return Promise.resolve(readRecordsText(text, name))
  return new Promise((resolve, reject) => {
    const records: WrittenRecord[] = []
    const worker = new Worker(entry, { workerData: { text, name }, name: 'records' })
    const askForMore = () => worker.postMessage('more')
    worker.on('message', (message: Message) => {
      if (!('records' in message)) {
        resolve({ ...message, records })
        return
      }
      records.push(...message.records)
      // What waits comes first: a boot is answered in between.
      setImmediate(askForMore)
    })
    askForMore()
    worker.on('error', (cause) => reject(died(cause)))
    worker.on('exit', (code) => reject(died(new Error(`it ended with code ${code}`))))
  })
}

function died(cause: Error): ServiceError {
  return new ServiceError(
    'INTERNAL',
    `the records could not be read: ${cause.message}`,
    { hint: 'take them in in several parts' },
    cause,
  )
}
