import type { CapturedPacket, PacketOwner } from './captured-packet.ts'
import { createOwnerList, type Owner } from './owner-list.ts'
import { readRecord, recordHeaderBytes, writeRecord } from './packet-record.ts'

export interface PacketRingOptions {
  readonly memoryBytes: number
  /** One of our hosts; its packets go last. */
  readonly isKnown: (owner: PacketOwner) => boolean
}

/** The last packets of each machine in memory of fixed size. */
export interface PacketRing {
  /** Copies a packet, or the beginning of it. Makes nothing but for an owner that had no packet here. */
  add(
    owner: PacketOwner,
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
  ): void
  /** Oldest first. `dropped`: those that made room for newer ones of the same owner. */
  packetsOf(owner: PacketOwner): { readonly packets: readonly CapturedPacket[]; readonly dropped: number }
}

/** Memory is handed out in pieces of this size, so a packet that is longer is cut. */
export const blockBytes = 2048
const longestKept = blockBytes - recordHeaderBytes
/** 48 KiB: some ten boots of a machine. */
export const mostBlocksOfOwner = 24
/** Whoever is no host of ours may have this part of the memory for sure, and what hosts leave. */
const strangersShare = 4

/**
 * Memory is cut into blocks, each with packets of one owner. Where none is free, the owner gives way that was silent for
 * longest: one that we do not know as long as those have more than their share, else a host of ours. So a flood of
 * made-up MACs pushes out its own, and no single machine has more than its bound.
 */
export function createPacketRing({ memoryBytes, isKnown }: PacketRingOptions): PacketRing {
  const blockCount = Math.max(1, Math.floor(memoryBytes / blockBytes))
  const memory = new Uint8Array(blockCount * blockBytes)
  const view = new DataView(memory.buffer)
  const used = new Uint16Array(blockCount)
  const records = new Uint16Array(blockCount)
  const nextBlock = new Int32Array(blockCount).map((_, block) => (block + 1 < blockCount ? block + 1 : -1))
  let firstFree = 0
  const owners = new Map<PacketOwner, Owner>()
  const hosts = createOwnerList()
  const strangers = createOwnerList()

  const listOf = (owner: Owner) => (owner.isKnown ? hosts : strangers)

  function ownerOf(key: PacketOwner): Owner {
    const existing = owners.get(key)
    if (existing !== undefined) return existing
    const fresh: Owner = {
      key,
      isKnown: isKnown(key),
      firstBlock: -1,
      lastBlock: -1,
      blocks: 0,
      dropped: 0,
      older: undefined,
      newer: undefined,
    }
    owners.set(key, fresh)
    listOf(fresh).add(fresh)
    return fresh
  }

  /** The oldest block of an owner, which is nobody's afterwards. */
  function takeFrom(owner: Owner): number {
    const block = owner.firstBlock
    owner.dropped += records[block] ?? 0
    owner.firstBlock = nextBlock[block] ?? -1
    if (owner.firstBlock === -1) owner.lastBlock = -1
    owner.blocks -= 1
    listOf(owner).blocks -= 1
    return block
  }

  function forgetIfEmpty(owner: Owner): void {
    if (owner.blocks > 0) return
    listOf(owner).remove(owner)
    owners.delete(owner.key)
  }

  function takeBlock(owner: Owner): number {
    if (owner.blocks >= mostBlocksOfOwner) return takeFrom(owner)
    if (firstFree !== -1) {
      const block = firstFree
      firstFree = nextBlock[block] ?? -1
      return block
    }
    const isStrangersTurn = strangers.blocks > blockCount / strangersShare || hosts.blocks === 0
    const victim = (isStrangersTurn ? strangers : hosts).oldestWithBlocks()
    // All blocks are somebody's, so one of the two lists has one.
    if (victim === undefined) return takeFrom(owner)
    const block = takeFrom(victim)
    if (victim !== owner) forgetIfEmpty(victim)
    return block
  }

  function extend(owner: Owner): void {
    // An admin may have made it a host meanwhile, or no host any more.
    const isKnownNow = isKnown(owner.key)
    if (isKnownNow !== owner.isKnown) {
      listOf(owner).remove(owner)
      listOf(owner).blocks -= owner.blocks
      owner.isKnown = isKnownNow
      listOf(owner).add(owner)
      listOf(owner).blocks += owner.blocks
    }
    const block = takeBlock(owner)
    used[block] = 0
    records[block] = 0
    nextBlock[block] = -1
    if (owner.lastBlock === -1) owner.firstBlock = block
    else nextBlock[owner.lastBlock] = block
    owner.lastBlock = block
    owner.blocks += 1
    listOf(owner).blocks += 1
  }

  return {
    add(key, at, isOurs, local, localPort, peer, peerPort, bytes, start, keptLength, fullLength) {
      const owner = ownerOf(key)
      listOf(owner).touch(owner)
      const kept = Math.min(keptLength, longestKept)
      const hasRoom =
        owner.lastBlock !== -1 && (used[owner.lastBlock] ?? 0) + recordHeaderBytes + kept <= blockBytes
      if (!hasRoom) extend(owner)
      const block = owner.lastBlock
      const from = block * blockBytes
      const end = writeRecord(
        view,
        memory,
        from + (used[block] ?? 0),
        at,
        isOurs,
        local,
        localPort,
        peer,
        peerPort,
        bytes,
        start,
        kept,
        fullLength,
      )
      used[block] = end - from
      records[block] = (records[block] ?? 0) + 1
    },
    packetsOf(key) {
      const owner = owners.get(key)
      const packets: CapturedPacket[] = []
      for (let block = owner?.firstBlock ?? -1; block !== -1; block = nextBlock[block] ?? -1) {
        const from = block * blockBytes
        const end = from + (used[block] ?? 0)
        for (let place = from; place < end; ) {
          const { packet, next } = readRecord(view, memory, place)
          packets.push(packet)
          place = next
        }
      }
      return { packets, dropped: owner?.dropped ?? 0 }
    },
  }
}
