import type { MacAddress } from '../core/mac.ts'
import type { RememberedClient } from './client-memory.ts'
import type { ClientKey } from './hardware-address.ts'
import type { DhcpPacket } from './packet.ts'
import type { PxeClient } from './pxe-client.ts'
import type { ServerIdentity } from './server-identity.ts'

/** One network that we listen on. */
export interface Wire {
  readonly interface: string
  /** Absent while the interface has no address: nothing can be answered then. */
  readonly server: ServerIdentity | undefined
}

export interface DatagramSource {
  /** A dotted quad, as sockets give it; parsed only where it is needed. */
  readonly address: string
  readonly port: number
}

export interface Datagram {
  readonly bytes: Uint8Array
  /** The port that it came in by: 67, or 4011. */
  readonly port: 'server' | 'proxy'
  readonly source: DatagramSource
  readonly wire: Wire
}

/** One request on its way through: what it says, who sent it, and who we are on that wire. */
export interface Exchange {
  readonly packet: DhcpPacket
  readonly key: ClientKey
  readonly mac: MacAddress | undefined
  readonly server: ServerIdentity
  readonly datagram: Datagram
  /** Ms since the epoch. */
  readonly now: number
  /** What is remembered of the client; looked up once a packet, by the follower. */
  memory: RememberedClient | undefined
  /** The boot client that sent it, once it was read as one. */
  client: PxeClient | undefined
}
