import { createSocket } from 'node:dgram'
import { formatIpv4 } from '../../dist/core/ipv4.js'
import { encodeDiscover, readDhcpReply } from '../../dist/runtime/clients/dhcp-question.js'

/** UEFI for x64 by PXE (option 93). */
const architecture = 7
/** As UEFI repeats its questions; then it gives up. */
const repeatsAfterMs = [4_000, 8_000, 16_000, 32_000]
/** Behind option 53, which is the first. */
const moreOptionsAt = 243

/** The machines of a rack on one port 68, each with its own questions. */
export async function openRackDhcp() {
  const waiting = new Map()
  let lastXid = 0
  let repeats = 0
  const socket = createSocket({
    type: 'udp4',
    recvBufferSize: 4 << 20,
    lookup: (host, _options, done) => done(null, host, 4),
  })
  await new Promise((resolve) => socket.bind(68, resolve))
  socket.setBroadcast(true)
  socket.on('message', (bytes) => {
    if (bytes.length >= 8) waiting.get(bytes.readUInt32BE(4))?.(bytes)
  })

  function ask(xid, packet, wanted) {
    return new Promise((resolve, reject) => {
      let tries = 0
      let timer
      function end(settle) {
        clearTimeout(timer)
        waiting.delete(xid)
        settle()
      }
      function send() {
        socket.send(packet, 67, '255.255.255.255')
        const afterMs = repeatsAfterMs[tries]
        tries += 1
        timer = setTimeout(() => {
          if (afterMs === undefined) {
            end(() => reject(new Error(`DHCP: no ${wanted}`)))
            return
          }
          repeats += 1
          send()
        }, afterMs ?? 4_000)
      }
      waiting.set(xid, (bytes) => {
        const reply = readDhcpReply(bytes, xid)
        if (reply?.type === wanted) end(() => resolve(reply))
      })
      send()
    })
  }

  return {
    /** DISCOVER, OFFER, REQUEST, ACK: the address, and what to fetch from where. */
    async lease({ mac, isIpxe }) {
      lastXid += 1
      const xid = lastXid
      const discover = encodeDiscover({ xid, mac, architecture, isIpxe })
      const offer = await ask(xid, discover, 'offer')
      const given = await ask(xid, requestOf(discover, offer), 'acknowledge')
      if (given.address === undefined || given.address !== offer.address)
        throw new Error('DHCP: another address than the one that was offered')
      if (given.bootFile === undefined || given.nextServer === undefined)
        throw new Error('DHCP: nothing to boot')
      const { bootFile } = given
      return { address: formatIpv4(given.address), server: formatIpv4(given.nextServer), bootFile }
    },
    repeats: () => repeats,
    close: () => socket.close(),
  }
}

/** The same with options 50 and 54. */
function requestOf(discover, { address, server }) {
  const more = Buffer.from([50, 4, 0, 0, 0, 0, 54, 4, 0, 0, 0, 0])
  more.writeUInt32BE(address, 2)
  more.writeUInt32BE(server, 8)
  const head = Buffer.from(discover.subarray(0, moreOptionsAt))
  head[moreOptionsAt - 1] = 3
  return Buffer.concat([head, more, discover.subarray(moreOptionsAt)])
}
