import { connect } from 'node:net'

/**
 * Downloads one URL again and again over keep-alive connections and drops the bodies, which are read into one buffer
 * per connection and so cost as little as Node can make it. Prints one line of JSON.
 *
 * download-client.mjs URL CLIENTS SECONDS [BYTES_PER_SECOND_AND_CLIENT]
 */
const [address, clients, seconds, paceText] = process.argv.slice(2)
const url = new URL(address)
const pace = paceText === undefined ? Infinity : Number(paceText)
const paceMs = 50
const request = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`
const firstByteMs = []
let bytes = 0
let finished = 0
let failed = 0
let isOver = false

function startClient() {
  const started = performance.now()
  let allowance = (pace * paceMs) / 1000
  let head = ''
  let left = 0
  let askedAt = 0
  let isInBody = false

  const socket = connect({
    host: url.hostname,
    port: Number(url.port),
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafe(256 * 1024), callback: onBytes },
  })
  socket.on('connect', ask)
  socket.on('error', (error) => {
    if (isOver) return
    failed += 1
    process.stderr.write(`download-client: ${error.message}\n`)
  })
  socket.on('close', () => {
    if (!isOver) failed += 1
  })
  const pacing = Number.isFinite(pace)
    ? setInterval(() => {
        allowance += (pace * paceMs) / 1000
        if (allowance > 0) socket.resume()
      }, paceMs)
    : undefined
  return () => {
    clearInterval(pacing)
    socket.destroy()
    return performance.now() - started
  }

  function ask() {
    head = ''
    isInBody = false
    askedAt = performance.now()
    socket.write(request)
  }

  function onBytes(length, buffer) {
    let body = length
    if (!isInBody) {
      if (head === '') firstByteMs.push(performance.now() - askedAt)
      head += buffer.toString('latin1', 0, length)
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return true
      const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1]
      left = Number(/^content-length: *(\d+)/im.exec(head)?.[1])
      if (status !== '200' || !(left > 0)) {
        failed += 1
        process.stderr.write(`download-client: ${head.slice(0, 200)}\n`)
        socket.destroy()
        return false
      }
      isInBody = true
      body = head.length - end - 4
    }
    bytes += body
    left -= body
    allowance -= body
    if (left === 0) {
      finished += 1
      ask()
    }
    return allowance > 0
  }
}

const startedAt = performance.now()
const stops = Array.from({ length: Number(clients) }, startClient)
setTimeout(() => {
  isOver = true
  const took = (performance.now() - startedAt) / 1000
  for (const stop of stops) stop()
  firstByteMs.sort((a, b) => a - b)
  const at = (part) => firstByteMs[Math.floor((firstByteMs.length - 1) * part)]
  console.log(
    JSON.stringify({
      bytes,
      seconds: took,
      finished,
      failed,
      firstByteP50Ms: at(0.5),
      firstByteP99Ms: at(0.99),
    }),
  )
}, Number(seconds) * 1000)
