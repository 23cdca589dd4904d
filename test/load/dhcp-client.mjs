import { createSocket } from 'node:dgram'
import { descriptorOf, loadKernelUdp } from '../../dist/udp/kernel-udp.js'
import { ipv4PeerName } from '../../dist/udp/peer-name.js'

/**
 * Machines that ask by DHCP on the one network of this namespace, so many exchanges under way at once, or so many a
 * second. Prints one line of JSON.
 *
 * dhcp-client.mjs '{"exchange":"offer"|"lease","isProxy":false,"underWay":32,"perSecond":0,"seconds":1.5,"machines":1000}'
 */
const { exchange, isProxy, underWay, perSecond, seconds, machines } = JSON.parse(process.argv[2])
const broadcast = 0xffffffff
const giveUpMs = 1_000
/** What UEFI of x64 says, and asks for. */
const common = Buffer.from(
  [
    `3c20${Buffer.from('PXEClient:Arch:00007:UNDI:003000').toString('hex')}`,
    '5d020007',
    '5e03010300',
    '390205c0',
    `3716${'01020304050c0d0f111216171c28292a2b3233363a3b'}`,
  ].join(''),
  'hex',
)
const to = ipv4PeerName(broadcast, 67)
const latenciesMs = []
const slots = new Map()
let nextXid = 1
let nextMachine = 0
let timeouts = 0
let isOver = false

const socket = createSocket({
  type: 'udp4',
  recvBufferSize: 4 << 20,
  lookup: (host, _options, done) => done(null, host, 4),
})
await new Promise((resolve) => socket.bind(68, resolve))
socket.setBroadcast(true)
const batch = (await loadKernelUdp())?.batch
const fd = descriptorOf(socket)

function packetOf(machine, xid, messageType, chosen) {
  const more = chosen === undefined ? [] : [50, 4, ...chosen.address, 54, 4, ...chosen.server]
  const options = Buffer.from([53, 1, messageType, ...more])
  const bytes = Buffer.alloc(240 + options.length + common.length + 1)
  bytes.set([1, 1, 6, 0])
  bytes.writeUInt32BE(xid, 4)
  bytes[10] = 0x80
  bytes.set([0x52, 0x54, 0, 0], 28)
  bytes.writeUInt16BE(machine, 32)
  bytes.writeUInt32BE(0x63825363, 236)
  bytes.set(options, 240)
  bytes.set(common, 240 + options.length)
  bytes[bytes.length - 1] = 255
  return bytes
}

function send(bytes) {
  if (batch === undefined) socket.send(bytes, 67, '255.255.255.255')
  else batch.push(fd, { bytes, offset: 0, length: bytes.length, segmentBytes: 0, to, onUnsent() {} })
}

function begin() {
  if (isOver) return
  nextMachine = (nextMachine + 1) % machines
  nextXid += 1
  slots.set(nextXid, { machine: nextMachine, at: performance.now() })
  send(packetOf(nextMachine, nextXid, 1))
}

function optionOf(bytes, start, end, wanted) {
  for (let at = start; at < end; ) {
    const code = bytes[at]
    if (code === 255) return undefined
    if (code === 0) {
      at += 1
      continue
    }
    if (code === wanted) return bytes.subarray(at + 2, at + 2 + bytes[at + 1])
    at += 2 + bytes[at + 1]
  }
  return undefined
}

function onReply(bytes, start, length) {
  const xid = bytes.readUInt32BE(start + 4)
  const slot = slots.get(xid)
  if (slot === undefined) return
  const end = start + length
  const [messageType] = optionOf(bytes, start + 240, end, 53) ?? []
  if (exchange === 'lease' && messageType === 2) {
    const address = Buffer.from(bytes.subarray(start + 16, start + 20))
    const server = Buffer.from(optionOf(bytes, start + 240, end, 54))
    send(packetOf(slot.machine, xid, 3, { address, server }))
    return
  }
  if (messageType !== (exchange === 'lease' ? 5 : 2)) return
  // Beside the site's server there is no address in it, and from an address server there is.
  if (isProxy !== (bytes.readUInt32BE(start + 16) === 0)) return
  slots.delete(xid)
  latenciesMs.push(performance.now() - slot.at)
  if (perSecond === 0) begin()
}

socket.on('message', (bytes) => {
  onReply(bytes, 0, bytes.length)
  if (batch === undefined) return
  batch.receive(fd, 256, ({ ring, start, length }) => {
    onReply(ring, start, length)
    return true
  })
  batch.flush()
})

const startedAt = performance.now()
for (let each = 0; each < underWay && perSecond === 0; each += 1) begin()
batch?.flush()
const pace = setInterval(() => {
  const due = perSecond === 0 ? 0 : ((performance.now() - startedAt) / 1000) * perSecond
  while (perSecond > 0 && nextXid - 1 < due) begin()
  for (const [xid, { at }] of slots) {
    if (performance.now() - at < giveUpMs) break
    slots.delete(xid)
    timeouts += 1
    if (perSecond === 0) begin()
  }
  batch?.flush()
}, 2)
await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
isOver = true
const tookSeconds = (performance.now() - startedAt) / 1000
clearInterval(pace)
socket.close()
latenciesMs.sort((a, b) => a - b)
const quantile = (part) => latenciesMs[Math.floor(latenciesMs.length * part)]
console.log(
  JSON.stringify({
    requests: latenciesMs.length,
    seconds: tookSeconds,
    failed: timeouts,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }),
)
