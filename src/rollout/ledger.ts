import { streamArchKey } from '../catalog/build-catalog.ts'
import type { Arch } from '../core/arch.ts'
import type { BootimageId } from '../core/bootimage.ts'
import type { BootimageFailure, BootimageState } from '../core/bootimage-state.ts'
import type { Sha256 } from '../core/digest.ts'
import type {
  BootimageRecord,
  DerivedRecord,
  PinResolution,
  RefreshWrite,
  StateStore,
  StreamHead,
} from '../state/store.ts'

/**
 * What the store knows of bootimages, in memory. Every change is written first and seen here only when it is
 * durable, so that nothing is decided on a state that a crash could take back (G7).
 */
export interface Ledger {
  readonly bootimages: ReadonlyMap<BootimageId, BootimageRecord>
  readonly heads: ReadonlyMap<string, StreamHead>
  readonly pins: ReadonlyMap<string, PinResolution>
  readonly derived: readonly DerivedRecord[]
  headOf(stream: string, arch: Arch): StreamHead
  pinOf(stream: string, arch: Arch, release: string): PinResolution | undefined
  recordRefresh(write: RefreshWrite): Promise<void>
  addBootimage(record: BootimageRecord): Promise<BootimageRecord>
  setState(
    id: BootimageId,
    change: {
      state: BootimageState
      failure?: BootimageFailure
      readyAt?: number
      kernelUncompressed?: Sha256
    },
  ): Promise<void>
  removeBootimage(id: BootimageId): Promise<void>
  saveHead(head: StreamHead): Promise<void>
  savePin(pin: PinResolution): Promise<void>
  /** Takes up pins that somebody else wrote, and bootimages that were not known. */
  reloadPins(): Promise<void>
  addDerived(record: DerivedRecord): Promise<void>
}

type LedgerStore = Pick<
  StateStore,
  | 'recordRefresh'
  | 'addBootimage'
  | 'setBootimageState'
  | 'removeBootimage'
  | 'saveHead'
  | 'savePinResolution'
  | 'addDerived'
  | 'listBootimages'
  | 'listHeads'
  | 'listPinResolutions'
  | 'listDerived'
>

/** @throws ServiceError STATE_UNAVAILABLE when the store cannot be read */
export async function openLedger(store: LedgerStore): Promise<Ledger> {
  const [records, heads, pins, derivedRecords] = await Promise.all([
    store.listBootimages(),
    store.listHeads(),
    store.listPinResolutions(),
    store.listDerived(),
  ])
  const bootimages = new Map(records.map((record) => [record.bootimage.id, record]))
  const headsByKey = new Map(heads.map((head) => [streamArchKey(head.stream, head.arch), head]))
  const pinsByKey = new Map(pins.map((pin) => [pinKey(pin.stream, pin.arch, pin.release), pin]))
  const derived = [...derivedRecords]

  return {
    bootimages,
    heads: headsByKey,
    pins: pinsByKey,
    derived,
    headOf: (stream, arch) => headsByKey.get(streamArchKey(stream, arch)) ?? { stream, arch, previous: [] },
    pinOf: (stream, arch, release) => pinsByKey.get(pinKey(stream, arch, release)),

    async recordRefresh(write) {
      await store.recordRefresh(write)
      for (const record of write.bootimages) {
        if (!bootimages.has(record.bootimage.id)) bootimages.set(record.bootimage.id, record)
      }
      for (const bootimage of write.relocated ?? []) {
        const record = bootimages.get(bootimage.id)
        if (record !== undefined) bootimages.set(bootimage.id, { ...record, bootimage })
      }
      for (const head of write.heads) headsByKey.set(streamArchKey(head.stream, head.arch), head)
    },
    async addBootimage(record) {
      const stored = await store.addBootimage(record)
      bootimages.set(stored.bootimage.id, stored)
      return stored
    },
    async setState(id, change) {
      const record = bootimages.get(id)
      if (record === undefined) return
      await store.setBootimageState(id, change)
      bootimages.set(id, {
        ...record,
        state: change.state,
        failure: change.failure,
        readyAt: change.readyAt ?? record.readyAt,
        kernelUncompressed: change.kernelUncompressed ?? record.kernelUncompressed,
      })
    },
    async removeBootimage(id) {
      await store.removeBootimage(id)
      bootimages.delete(id)
    },
    async saveHead(head) {
      await store.saveHead(head)
      headsByKey.set(streamArchKey(head.stream, head.arch), head)
    },
    async savePin(pin) {
      await store.savePinResolution(pin)
      pinsByKey.set(pinKey(pin.stream, pin.arch, pin.release), pin)
    },
    async reloadPins() {
      const [found, resolved] = await Promise.all([store.listBootimages(), store.listPinResolutions()])
      for (const record of found) {
        if (!bootimages.has(record.bootimage.id)) bootimages.set(record.bootimage.id, record)
      }
      for (const pin of resolved) pinsByKey.set(pinKey(pin.stream, pin.arch, pin.release), pin)
    },
    async addDerived(record) {
      await store.addDerived(record)
      derived.push(record)
    },
  }
}

function pinKey(stream: string, arch: Arch, release: string): string {
  return `${streamArchKey(stream, arch)}/${release}`
}
