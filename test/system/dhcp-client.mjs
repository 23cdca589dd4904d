// A DHCP client's socket in a process of its own, for another network namespace. Each line of hex on standard input is
// broadcast to port 67; each datagram that arrives is a line `ADDRESS PORT HEX`.
import { createSocket } from 'node:dgram'
import { createInterface } from 'node:readline'

const socket = createSocket({ type: 'udp4', reuseAddr: true })
socket.on('message', (bytes, { address, port }) =>
  process.stdout.write(`${address} ${port} ${bytes.toString('hex')}\n`),
)
socket.bind(68, () => {
  socket.setBroadcast(true)
  process.stdout.write('ready\n')
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [hex, to = '255.255.255.255', port = '67'] = line.split(' ')
    socket.send(Buffer.from(hex, 'hex'), Number(port), to)
  })
})
