import { createHash } from 'node:crypto'
import { connect } from 'node:net'

/** One for all connections of a thread: what is read into it is used up before the next one reads. */
const buffer = Buffer.allocUnsafe(256 * 1024)
const longestSilenceMs = 60_000

/**
 * A node's connection, on which it fetches file after file from its own address, as iPXE does. Bodies are hashed and
 * dropped; the text is kept where it is asked for.
 */
export function openNodeConnection({ url, from }) {
  const { hostname, port } = new URL(url)
  let answer
  const socket = connect({
    host: hostname,
    port: Number(port || 80),
    localAddress: from,
    noDelay: true,
    onread: { buffer, callback: onBytes },
  })
  socket.setTimeout(longestSilenceMs, () => fail('no bytes for a minute'))
  socket.on('error', ({ message }) => fail(message))
  socket.on('close', () => fail('closed too early'))

  function get(target, { isText = false } = {}) {
    const { pathname, search, host } = new URL(target)
    return new Promise((resolve, reject) => {
      const hash = createHash('sha256')
      answer = { resolve, reject, hash, isText, head: '', text: '', sizeBytes: undefined, left: 0 }
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n`)
    })
  }

  function onBytes(length) {
    if (answer === undefined) return true
    let start = 0
    if (answer.sizeBytes === undefined) {
      const before = answer.head.length
      answer.head += buffer.toString('latin1', 0, length)
      const end = answer.head.indexOf('\r\n\r\n')
      if (end === -1) return true
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer.head)?.[1]
      const sizeBytes = Number(/^content-length: *(\d+)/im.exec(answer.head)?.[1])
      if (status !== '200' || !(sizeBytes > 0)) {
        fail(`answered ${status}`)
        return false
      }
      answer.sizeBytes = sizeBytes
      answer.left = sizeBytes
      start = end + 4 - before
    }
    const body = buffer.subarray(start, length)
    answer.hash.update(body)
    answer.left -= body.length
    if (answer.isText) answer.text += body.toString('latin1')
    if (answer.left === 0) finish()
    return true
  }

  function finish() {
    const { resolve, hash, text, sizeBytes } = answer
    answer = undefined
    resolve({ sha256: hash.digest('hex'), text, sizeBytes })
  }

  function fail(reason) {
    answer?.reject(new Error(reason))
    answer = undefined
    socket.destroy()
  }

  return { get, close: () => socket.destroy() }
}
