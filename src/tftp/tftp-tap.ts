import type { TftpPeer } from './files.ts'

/** Sees the packets of one transfer; bytes are valid during the call alone. */
export interface TransferTap {
  received(bytes: Uint8Array, start: number, length: number): void
  /** Packets that lie one after the other, a new one every `stride` bytes. */
  sent(bytes: Uint8Array, offset: number, length: number, stride: number): void
  end(): void
}

/** Sees every packet as it comes and goes. */
export interface TftpTap {
  /** One of no transfer: a request, or the ERROR that answers it. */
  packet(bytes: Uint8Array, isOurs: boolean, peer: TftpPeer, localPort: number): void
  /** `undefined`: its packets are not looked at. */
  transfer(peer: TftpPeer, localPort: number): TransferTap | undefined
}
