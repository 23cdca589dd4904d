import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'

/**
 * Machines that fetch one file by TFTP, so many at once, again and again until the time is over. Prints one line of
 * JSON.
 *
 * tftp-client.mjs '{"address":"198.18.0.1","name":"snponly.efi","sha256":"…","atOnce":50,"windowSize":1,"seconds":2}'
 */
const { address, name, sha256, atOnce, windowSize, seconds } = JSON.parse(process.argv[2])
const blockSize = 1468
const repeatAfterMs = 500
const wanted = ['octet', 'tsize', '0', 'blksize', String(blockSize)]
if (windowSize > 1) wanted.push('windowsize', String(windowSize))
const request = Buffer.from(`\0\x01${[name, ...wanted].join('\0')}\0`, 'latin1')
let requests = 0
let bytes = 0
let failed = 0
let repeats = 0
const startedAt = performance.now()
const isOver = () => performance.now() - startedAt > seconds * 1000

/** One transfer on a socket of its own, as each machine has one. */
function fetchFile() {
  return new Promise((resolve) => {
    const socket = createSocket({ type: 'udp4', lookup: (host, _options, done) => done(null, host, 4) })
    const hash = createHash('sha256')
    let port = 69
    let block = 0
    let inWindow = 0
    let granted = 1
    let last = request
    const timer = setInterval(() => {
      repeats += 1
      socket.send(last, port, address)
    }, repeatAfterMs)
    function end(isWhole) {
      clearInterval(timer)
      if (!isWhole || hash.digest('hex') !== sha256) failed += 1
      requests += 1
      socket.close()
      resolve()
    }
    function acknowledge() {
      inWindow = 0
      last = Buffer.of(0, 4, (block >> 8) & 255, block & 255)
      timer.refresh()
      socket.send(last, port, address)
    }
    socket.on('error', () => end(false))
    socket.on('message', (packet, from) => {
      port = from.port
      const opcode = packet[1]
      if (opcode === 5) end(false)
      if (opcode === 6 && block === 0) {
        granted = grantedWindow(packet)
        acknowledge()
      }
      if (opcode !== 3 || packet.readUInt16BE(2) !== ((block + 1) & 0xffff)) return
      const data = packet.subarray(4)
      hash.update(data)
      bytes += data.length
      block += 1
      inWindow += 1
      const isLast = data.length < blockSize
      if (isLast || inWindow === granted) acknowledge()
      if (isLast) end(true)
    })
    socket.bind(0, () => socket.send(request, port, address))
  })
}

/** Whoever does not know windows leaves the option out. */
function grantedWindow(oack) {
  const parts = oack.toString('latin1', 2).toLowerCase().split('\0')
  const at = parts.indexOf('windowsize')
  return at === -1 ? 1 : Number(parts[at + 1])
}

async function machine() {
  while (!isOver()) await fetchFile()
}

await Promise.all(Array.from({ length: atOnce }, machine))
console.log(
  JSON.stringify({ requests, bytes, seconds: (performance.now() - startedAt) / 1000, failed, repeats }),
)
