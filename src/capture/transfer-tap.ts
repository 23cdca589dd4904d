/** Called for each packet that is kept, in either direction. */
export type KeepPacket = (
  isOurs: boolean,
  bytes: Uint8Array,
  start: number,
  keptLength: number,
  fullLength: number,
) => void

/** Sees the packets of one TFTP transfer. */
export interface TransferTap {
  received(bytes: Uint8Array, start: number, length: number): void
  /** Packets that lie one after the other, a new one every `stride` bytes. */
  sent(bytes: Uint8Array, offset: number, length: number, stride: number): void
  /** Its socket is given back. */
  end(): void
}

const data = 3
const acknowledgement = 4
/** Opcode and block number: what follows in DATA may be a script with a token in it. */
const dataHeaderBytes = 4
/** Packets from the start of a transfer that are kept in any case. */
const firstPackets = 32
/** Of the others one in so many is. */
const keptOneIn = 64

/**
 * Chooses what is kept of a transfer: a loader has thousands of DATA and ACK, of which one is like the other. The
 * beginning, one in 64, whatever repeats itself, whatever is neither DATA nor ACK, and the end tell its story.
 */
export function createTransferTap(keep: KeepPacket): TransferTap {
  let seen = 0
  let lastSent = -1
  let lastAcknowledged = -1
  let lastStride = 0
  /** The last acknowledgement, where it was not kept. */
  let unkept = -1
  const acknowledgementBytes = new Uint8Array([0, acknowledgement, 0, 0])

  function isKept(block: number, last: number): boolean {
    seen += 1
    return seen <= firstPackets || seen % keptOneIn === 0 || block === last
  }

  /** Whole DATA in their order, none of which is to be kept: nearly all of a long transfer, so looked at as one. */
  function passesUnseen(bytes: Uint8Array, offset: number, length: number, stride: number): boolean {
    if (seen < firstPackets || bytes[offset + 1] !== data || stride < lastStride) return false
    const count = length / stride
    const isRegular = Number.isInteger(count) && (seen % keptOneIn) + count < keptOneIn
    if (!isRegular || blockAt(bytes, offset) !== ((lastSent + 1) & 0xffff)) return false
    seen += count
    lastSent = (lastSent + count) & 0xffff
    return true
  }

  return {
    received(bytes, start, length) {
      if (length < dataHeaderBytes || bytes[start + 1] !== acknowledgement) {
        keep(false, bytes, start, length, length)
        return
      }
      const block = blockAt(bytes, start)
      if (isKept(block, lastAcknowledged)) {
        keep(false, bytes, start, length, length)
        unkept = -1
      } else unkept = block
      lastAcknowledged = block
    },
    sent(bytes, offset, length, stride) {
      if (passesUnseen(bytes, offset, length, stride)) return
      const end = offset + length
      for (let at = offset; at < end; at += stride) {
        const size = Math.min(stride, end - at)
        if (bytes[at + 1] !== data) {
          keep(true, bytes, at, size, size)
          continue
        }
        const block = blockAt(bytes, at)
        const isRepeated = block !== ((lastSent + 1) & 0xffff) && lastSent !== -1
        const isLast = size < lastStride
        if (isKept(block, lastSent) || isRepeated || isLast) keep(true, bytes, at, dataHeaderBytes, size)
        lastSent = block
        lastStride = Math.max(lastStride, stride)
      }
    },
    end() {
      if (unkept === -1) return
      acknowledgementBytes[2] = unkept >>> 8
      acknowledgementBytes[3] = unkept & 0xff
      unkept = -1
      keep(false, acknowledgementBytes, 0, dataHeaderBytes, dataHeaderBytes)
    },
  }
}

function blockAt(bytes: Uint8Array, start: number): number {
  return ((bytes[start + 2] ?? 0) << 8) | (bytes[start + 3] ?? 0)
}
