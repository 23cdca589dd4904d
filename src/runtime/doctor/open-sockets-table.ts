import { endianness } from 'node:os'

/** One line of `/proc/net/{tcp,udp}`: a socket that waits for peers. */
export interface OpenSocket {
  readonly protocol: 'tcp' | 'udp'
  /** IPv4 as a dotted quad, IPv6 in eight groups; `::ffff:` addresses as IPv4. */
  readonly address: string
  readonly port: number
  readonly inode: string
}

const listening = '0A'

/**
 * Reads the text of `/proc/net/tcp`, `tcp6`, `udp` or `udp6` (proc(5)). Of TCP only listening sockets; of UDP only those
 * without a peer.
 */
export function parseSocketTable(
  text: string,
  protocol: OpenSocket['protocol'],
  isLittleEndian = endianness() === 'LE',
): readonly OpenSocket[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/)
      const [addressHex = '', portHex = ''] = local.split(':')
      const isWaiting = protocol === 'tcp' ? state === listening : remote.endsWith(':0000')
      if (!isWaiting || inode === undefined || !/^(?:[0-9A-F]{8}){1,4}$/i.test(addressHex)) return []
      const address = addressText(addressHex, isLittleEndian)
      return [{ protocol, address, port: Number.parseInt(portHex, 16), inode }]
    })
}

/** The kernel prints each word of an address in its own byte order. */
function addressText(hex: string, isLittleEndian: boolean): string {
  const bytes = Buffer.from(hex, 'hex')
  if (isLittleEndian) bytes.swap32()
  if (bytes.length === 4) return bytes.join('.')
  const isMapped = bytes.subarray(0, 12).toString('hex') === '00000000000000000000ffff'
  if (isMapped) return bytes.subarray(12).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16))
  return groups.join(':').replace(/^0(?::0){7}$/, '::')
}

/** Whether whoever listens at `held` is in the way of somebody who wants `wanted` (absent: every address). */
export function isInTheWay(held: string, wanted: string | undefined): boolean {
  return isEvery(held) || wanted === undefined || isEvery(wanted) || held === wanted
}

function isEvery(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}
