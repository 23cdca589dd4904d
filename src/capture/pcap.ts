import { limitedBroadcastIpv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import type { CapturedPacket } from './captured-packet.ts'

/** Microseconds, written in big-endian; readers tell by the first byte (draft-ietf-opsawg-pcap §4). */
const magic = 0xa1b2c3d4
const fileHeaderBytes = 24
const recordHeaderBytes = 16
const linkTypeEthernet = 1
const longestPacket = 65_535

const ethernetBytes = 14
const ipBytes = 20
const udpBytes = 8
const headerBytes = ethernetBytes + ipBytes + udpBytes
const udpProtocol = 17
const doNotFragment = 0x4000
const timeToLive = 64

/** Ours on the made-up wire; locally administered, so nobody's. */
const ownMac = Buffer.from('020000000001', 'hex')
const broadcastMac = Buffer.from('ffffffffffff', 'hex')

/**
 * A pcap file of UDP packets, oldest first. Sockets see neither Ethernet nor IP headers, so those are made up around
 * the true addresses, ports and times, with checksums that are right; what was cut has no UDP checksum.
 */
export function writePcap(packets: readonly CapturedPacket[], peerMac: MacAddress): Buffer {
  const inOrder = [...packets].sort((one, other) => one.at - other.at)
  const mac = Buffer.from(peerMac.replaceAll(':', ''), 'hex')
  return Buffer.concat([fileHeader(), ...inOrder.map((packet, index) => record(packet, index, mac))])
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(fileHeaderBytes)
  header.writeUInt32BE(magic, 0)
  header.writeUInt16BE(2, 4)
  header.writeUInt16BE(4, 6)
  header.writeUInt32BE(longestPacket, 16)
  header.writeUInt32BE(linkTypeEthernet, 20)
  return header
}

function record(packet: CapturedPacket, index: number, peerMac: Buffer): Buffer {
  const { at, isOurs, bytes, fullLength } = packet
  const bytesOfPacket = Buffer.alloc(recordHeaderBytes + headerBytes + bytes.length)
  const seconds = Math.floor(at / 1000)
  bytesOfPacket.writeUInt32BE(seconds >>> 0, 0)
  bytesOfPacket.writeUInt32BE(Math.floor((at - seconds * 1000) * 1000), 4)
  bytesOfPacket.writeUInt32BE(headerBytes + bytes.length, 8)
  bytesOfPacket.writeUInt32BE(headerBytes + fullLength, 12)

  const frame = bytesOfPacket.subarray(recordHeaderBytes)
  const source = isOurs ? packet.local : packet.peer
  const target = isOurs ? packet.peer : packet.local
  const targetMac = isOurs ? peerMac : ownMac
  frame.set(target === limitedBroadcastIpv4 ? broadcastMac : targetMac, 0)
  frame.set(isOurs ? ownMac : peerMac, 6)
  frame.writeUInt16BE(0x0800, 12)

  const ip = frame.subarray(ethernetBytes)
  ip[0] = 0x45
  ip.writeUInt16BE(ipBytes + udpBytes + fullLength, 2)
  ip.writeUInt16BE(index & 0xffff, 4)
  ip.writeUInt16BE(doNotFragment, 6)
  ip[8] = timeToLive
  ip[9] = udpProtocol
  ip.writeUInt32BE(source, 12)
  ip.writeUInt32BE(target, 16)
  ip.writeUInt16BE(checksum(sumOf(ip.subarray(0, ipBytes))), 10)

  const udp = ip.subarray(ipBytes)
  udp.writeUInt16BE(isOurs ? packet.localPort : packet.peerPort, 0)
  udp.writeUInt16BE(isOurs ? packet.peerPort : packet.localPort, 2)
  udp.writeUInt16BE(udpBytes + fullLength, 4)
  udp.set(bytes, udpBytes)
  if (bytes.length === fullLength) {
    const pseudoHeader = sumOf(ip.subarray(12, 20)) + udpProtocol + udpBytes + fullLength
    // A sum of zero is sent as all ones: zero says that there is none (RFC 768).
    udp.writeUInt16BE(checksum(pseudoHeader + sumOf(udp)) || 0xffff, 6)
  }
  return bytesOfPacket
}

/** Of 16-bit words; an odd last byte counts as if a zero followed (RFC 1071). */
function sumOf(bytes: Buffer): number {
  let sum = 0
  for (let at = 0; at + 1 < bytes.length; at += 2) sum += bytes.readUInt16BE(at)
  return bytes.length % 2 === 0 ? sum : sum + ((bytes.at(-1) ?? 0) << 8)
}

function checksum(sum: number): number {
  let folded = sum
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x10000)
  return ~folded & 0xffff
}
