import { toIpv4 } from '../core/ipv4.ts'
import type { CapturedPacket } from './captured-packet.ts'

/** Before the bytes of each packet in the ring. */
export const recordHeaderBytes = 26

/** Writes a record in place and returns where the next one begins. Plain arguments: nothing is made for a packet. */
export function writeRecord(
  view: DataView,
  memory: Uint8Array,
  offset: number,
  at: number,
  isOurs: boolean,
  local: number,
  localPort: number,
  peer: number,
  peerPort: number,
  bytes: Uint8Array,
  start: number,
  keptLength: number,
  fullLength: number,
): number {
  view.setUint16(offset, keptLength)
  view.setUint16(offset + 2, Math.min(fullLength, 0xffff))
  view.setUint16(offset + 4, isOurs ? 1 : 0)
  view.setUint16(offset + 6, localPort)
  view.setFloat64(offset + 8, at)
  view.setUint32(offset + 16, local)
  view.setUint32(offset + 20, peer)
  view.setUint16(offset + 24, peerPort)
  const body = offset + recordHeaderBytes
  if (keptLength > shortBytes) {
    memory.set(
      start === 0 && keptLength === bytes.length ? bytes : bytes.subarray(start, start + keptLength),
      body,
    )
  } else {
    for (let index = 0; index < keptLength; index += 1) memory[body + index] = bytes[start + index] ?? 0
  }
  return body + keptLength
}

/** Up to here a loop is cheaper than a call. */
const shortBytes = 16

/** The record at a place, its bytes copied; `next` is where the one after it begins. */
export function readRecord(
  view: DataView,
  memory: Uint8Array,
  offset: number,
): { readonly packet: CapturedPacket; readonly next: number } {
  const keptLength = view.getUint16(offset)
  const body = offset + recordHeaderBytes
  const packet = {
    at: view.getFloat64(offset + 8),
    isOurs: view.getUint16(offset + 4) === 1,
    local: toIpv4(view.getUint32(offset + 16)),
    localPort: view.getUint16(offset + 6),
    peer: toIpv4(view.getUint32(offset + 20)),
    peerPort: view.getUint16(offset + 24),
    bytes: memory.slice(body, body + keptLength),
    fullLength: view.getUint16(offset + 2),
  }
  return { packet, next: body + keptLength }
}
