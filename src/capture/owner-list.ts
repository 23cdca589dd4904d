import type { PacketOwner } from './captured-packet.ts'

/** Somebody who has packets in the ring; changed in place. */
export interface Owner {
  readonly key: PacketOwner
  isKnown: boolean
  /** -1: none. */
  firstBlock: number
  lastBlock: number
  blocks: number
  dropped: number
  /** Neighbours in their list; who was silent for longest is at its beginning. */
  older: Owner | undefined
  newer: Owner | undefined
}

/** Owners by when they were heard last; moving one to the end makes nothing. */
export interface OwnerList {
  /** Of all its owners. */
  blocks: number
  add(owner: Owner): void
  remove(owner: Owner): void
  /** It was heard now. */
  touch(owner: Owner): void
  oldestWithBlocks(): Owner | undefined
}

export function createOwnerList(): OwnerList {
  let oldest: Owner | undefined
  let newest: Owner | undefined

  function add(owner: Owner): void {
    owner.older = newest
    owner.newer = undefined
    if (newest === undefined) oldest = owner
    else newest.newer = owner
    newest = owner
  }

  function remove({ older, newer }: Owner): void {
    if (older === undefined) oldest = newer
    else older.newer = newer
    if (newer === undefined) newest = older
    else newer.older = older
  }

  return {
    blocks: 0,
    add,
    remove,
    touch(owner) {
      if (owner === newest) return
      remove(owner)
      add(owner)
    },
    oldestWithBlocks() {
      let owner = oldest
      while (owner !== undefined && owner.blocks === 0) owner = owner.newer
      return owner
    },
  }
}
