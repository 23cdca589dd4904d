// A state thread that opens well and then behaves as the stream of the first asked document is called.
import { parentPort } from 'node:worker_threads'

parentPort.postMessage({ type: 'opened' })
parentPort.on('message', ({ type, id, args }) => {
  if (type === 'close') return parentPort.close()
  const manner = args?.[0]?.stream
  if (manner === 'dies') throw new Error('out of memory')
  if (manner === 'leaves') process.exit(3)
  if (manner !== 'silent') parentPort.postMessage({ type: 'done', id, value: [] })
})
