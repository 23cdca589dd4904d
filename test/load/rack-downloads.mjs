import { parentPort, workerData } from 'node:worker_threads'
import { openNodeConnection } from './node-connection.mjs'

/**
 * A thread of its own, so that hashing gigabytes does not keep the machines waiting that are not so far yet. Takes
 * `{ index, from, files }` and tells what became of each, `atOnce` of them under way.
 */
const { atOnce } = workerData
const waiting = []
let underWay = 0

parentPort.on('message', (node) => {
  waiting.push(node)
  startNext()
})

function startNext() {
  while (underWay < atOnce && waiting.length > 0) void take(waiting.shift())
}

async function take({ index, from, files }) {
  underWay += 1
  let bytes = 0
  let problem
  const connection = openNodeConnection({ url: files[0].url, from })
  for (const { role, url, sha256 } of files) {
    const got = await connection.get(url).catch(({ message }) => ({ problem: message }))
    bytes += got.sizeBytes ?? 0
    if (got.sha256 === sha256) continue
    problem = `${role}: ${got.problem ?? 'wrong bytes'}`
    break
  }
  connection.close()
  underWay -= 1
  parentPort.postMessage({ index, bytes, problem })
  startNext()
}
