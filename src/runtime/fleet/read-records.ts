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

/** A hundred thousand hosts need half of it. */
const usualHeapMb = 2048

/**
 * Reads a text of records, long ones in a thread of their own that ends with it.
 * @param heapMb what that thread may take
 * @throws ServiceError USAGE when that is not enough, INTERNAL when the thread dies otherwise
 */
export function readRecords(text: string, name: string, heapMb = usualHeapMb): Promise<RecordsText> {
  if (text.length <= shortText) return Promise.resolve(readRecordsText(text, name))
  return new Promise((resolve, reject) => {
    const records: WrittenRecord[] = []
    const worker = new Worker(entry, {
      workerData: { text, name },
      name: 'records',
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
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

function died(cause: NodeJS.ErrnoException): ServiceError {
  return cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ServiceError('USAGE', 'the text is too large to be read at once', {
        field: 'text',
        hint: 'take the records in in several parts, each with mode merge',
      })
    : new ServiceError('INTERNAL', `the records could not be read: ${cause.message}`, {}, cause)
}
