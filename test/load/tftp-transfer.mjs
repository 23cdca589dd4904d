import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'

const blockSize = 1468
const repeatAfterMs = 500
/** In a row, without a new block. */
const mostRepeats = 40
/** "User aborted the transfer", as UEFI says it. */
const abort = Buffer.from('\0\x05\0\x08User aborted the transfer\0', 'latin1')

/**
 * One transfer on a socket of its own, as each machine has one; `from` is the machine's address, or any. Resolves with
 * what came: `sha256` is absent when the file did not come to its end. `isLook` ends it as soon as the size is known, as
 * UEFI does the first time.
 */
export function fetchFile({ address, name, windowSize, from, isLook = false }) {
  const wanted = ['octet', 'tsize', '0', 'blksize', String(blockSize)]
  if (windowSize > 1) wanted.push('windowsize', String(windowSize))
  const request = Buffer.from(`\0\x01${[name, ...wanted].join('\0')}\0`, 'latin1')
  return new Promise((resolve) => {
    const socket = createSocket({ type: 'udp4', lookup: (host, _options, done) => done(null, host, 4) })
    const hash = createHash('sha256')
    let port = 69
    let block = 0
    let inWindow = 0
    let granted = 1
    let last = request
    let bytes = 0
    let repeats = 0
    let inVain = 0
    const timer = setInterval(() => {
      repeats += 1
      inVain += 1
      if (inVain > mostRepeats) end(false)
      else socket.send(last, port, address)
    }, repeatAfterMs)
    let isOver = false
    function end(isWhole) {
      if (isOver) return
      isOver = true
      clearInterval(timer)
      socket.close()
      resolve({ sha256: isWhole ? hash.digest('hex') : undefined, bytes, repeats })
    }
    function acknowledge() {
      inWindow = 0
      last = Buffer.of(0, 4, (block >> 8) & 255, block & 255)
      timer.refresh()
      socket.send(last, port, address)
    }
    socket.on('error', () => end(false))
    socket.on('message', (packet, { port: peerPort }) => {
      port = peerPort
      const opcode = packet[1]
      if (opcode === 5) end(false)
      if (opcode === 6 && isLook) {
        socket.send(abort, port, address, () => end(false))
        return
      }
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
      inVain = 0
      const isLast = data.length < blockSize
      if (isLast || inWindow === granted) acknowledge()
      if (isLast) end(true)
    })
    socket.bind(0, from, () => socket.send(request, port, address))
  })
}

/** Whoever does not know windows leaves the option out. */
function grantedWindow(oack) {
  const parts = oack.toString('latin1', 2).toLowerCase().split('\0')
  const at = parts.indexOf('windowsize')
  return at === -1 ? 1 : Number(parts[at + 1])
}
