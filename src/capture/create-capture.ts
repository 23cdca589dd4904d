import type { Clock } from '../core/clock.ts'
import type { Ipv4 } from '../core/ipv4.ts'
import type { MacAddress } from '../core/mac.ts'
import { shownPath } from '../core/shown-path.ts'
import { visibleText } from '../core/visible-text.ts'
import {
  macOfOwner,
  ownerOfAddress,
  ownerOfMac,
  ownerOfMacBytes,
  type PacketOwner,
} from './captured-packet.ts'
import { createPacketRing } from './packet-ring.ts'
import { writePcap } from './pcap.ts'
import { createTransferTap, type TransferTap } from './transfer-tap.ts'

/** What was kept of one machine. */
export interface MachineCapture {
  readonly packets: number
  /** Ms since the epoch. */
  readonly oldest?: number
  readonly newest?: number
  /** Packets that made room for newer ones of the same machine. */
  readonly dropped: number
  readonly pcap: Buffer
}

/** The packets of the last boots, kept in memory of fixed size. */
export interface Capture {
  /** A DHCP packet; whose it is, it says itself. Nothing is made for it. */
  dhcp(bytes: Uint8Array, isOurs: boolean, local: Ipv4, localPort: number, peer: Ipv4, peerPort: number): void
  /** A TFTP packet outside of a transfer: a request, or an ERROR in answer. */
  tftp(bytes: Uint8Array, isOurs: boolean, local: Ipv4, localPort: number, peer: Ipv4, peerPort: number): void
  transfer(local: Ipv4, localPort: number, peer: Ipv4, peerPort: number): TransferTap
  /** @param address that the machine has, where it is known: packets from before its MAC was known lie there */
  of(mac: MacAddress, address: Ipv4 | undefined): MachineCapture
}

export interface CaptureOptions {
  readonly memoryBytes: number
  /** One of our hosts. */
  readonly isKnown: (mac: MacAddress) => boolean
  /** Whose an address is, as far as DHCP has seen. */
  readonly macOf: (address: Ipv4) => MacAddress | undefined
  readonly clock: Clock
}

/** Offsets in a DHCP packet (RFC 2131 §2). */
const htypeAt = 1
const chaddrAt = 28
const ethernet = 1
const macBytes = 6
/** Opcodes of RFC 1350 §5. */
const tftpReadRequest = 1
const tftpWriteRequest = 2
const tftpData = 3

export function createCapture({ memoryBytes, isKnown, macOf, clock }: CaptureOptions): Capture {
  const ring = createPacketRing({
    memoryBytes,
    isKnown(owner) {
      const mac = macOfOwner(owner)
      return mac !== undefined && isKnown(mac)
    },
  })

  function ownerAt(address: Ipv4): PacketOwner {
    const mac = macOf(address)
    return mac === undefined ? ownerOfAddress(address) : ownerOfMac(mac)
  }

  return {
    dhcp(bytes, isOurs, local, localPort, peer, peerPort) {
      const { length } = bytes
      // What is no packet of an Ethernet client is nobody's; the log has it.
      const isOfClient = length > chaddrAt + macBytes && bytes[htypeAt] === ethernet
      if (!isOfClient || ((bytes[chaddrAt] ?? 1) & 1) === 1) return
      const owner = ownerOfMacBytes(bytes, chaddrAt)
      if (owner === 0) return
      ring.add(owner, clock.now(), isOurs, local, localPort, peer, peerPort, bytes, 0, length, length)
    },
    tftp(bytes, isOurs, local, localPort, peer, peerPort) {
      const { length } = bytes
      const kept = Math.min(length, tftpKeptBytes(bytes))
      const owner = ownerAt(peer)
      ring.add(owner, clock.now(), isOurs, local, localPort, peer, peerPort, bytes, 0, kept, length)
    },
    transfer(local, localPort, peer, peerPort) {
      const owner = ownerAt(peer)
      return createTransferTap((isOurs, bytes, start, kept, full) =>
        ring.add(owner, clock.now(), isOurs, local, localPort, peer, peerPort, bytes, start, kept, full),
      )
    },
    of(mac, address) {
      const own = ring.packetsOf(ownerOfMac(mac))
      const nameless = address === undefined ? undefined : ring.packetsOf(ownerOfAddress(address))
      const packets = [...(nameless?.packets ?? []), ...own.packets].sort((one, other) => one.at - other.at)
      const [first] = packets
      const last = packets.at(-1)
      return {
        packets: packets.length,
        ...(first && { oldest: first.at }),
        ...(last && { newest: last.at }),
        dropped: own.dropped + (nameless?.dropped ?? 0),
        pcap: writePcap(packets, mac),
      }
    },
  }
}

/** Of DATA its header, of a request for what may be a token its opcode: tokens open a machine's secrets (G12). */
function tftpKeptBytes(bytes: Uint8Array): number {
  const opcode = bytes[1]
  if (opcode === tftpData) return 4
  if (opcode !== tftpReadRequest && opcode !== tftpWriteRequest) return bytes.length
  const [name = ''] = String.fromCharCode(...bytes.subarray(2, 514)).split('\0', 1)
  return shownPath(name) === visibleText(name, 200) ? bytes.length : 2
}
