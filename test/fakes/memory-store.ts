import type { BootLease } from '../../src/core/boot-lease.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { ServiceError } from '../../src/core/errors.ts'
import type {
  BootimageRecord,
  DerivedRecord,
  DocumentRecord,
  PinResolution,
  StateStore,
  StreamHead,
  VerifiedFile,
} from '../../src/state/store.ts'
import { createMemoryAttempts } from './memory-attempts.ts'
import { createMemoryFleetStore } from './memory-fleet-store.ts'

/** A state store that forgets with its process; it passes the same suite as the real ones. */
export function createMemoryStore(): StateStore {
  const documents = new Map<string, DocumentRecord>()
  const bootimages = new Map<string, BootimageRecord>()
  const heads = new Map<string, StreamHead>()
  const derived = new Map<string, DerivedRecord>()
  const pins = new Map<string, PinResolution>()
  const attempts = new Map<string, BootLease>()
  const leases = new Map<BootimageId, number>()
  const verified = new Map<string, VerifiedFile>()
  let closed = false

  async function step<T>(name: string, run: () => T): Promise<T> {
    if (closed)
      throw new ServiceError('STATE_UNAVAILABLE', `${name}: the state store is closed`, { step: name })
    return structuredClone(run())
  }

  function putDocument(document: DocumentRecord): void {
    const key = `${document.stream} ${document.digest}`
    const known = documents.get(key)
    documents.set(
      key,
      known ? { ...known, lastSeenAt: Math.max(known.lastSeenAt, document.lastSeenAt) } : present(document),
    )
  }

  function putBootimage(record: BootimageRecord): BootimageRecord {
    const known = bootimages.get(record.bootimage.id)
    if (known) return known
    const stored = present({ ...record, bootimage: present(record.bootimage) })
    bootimages.set(record.bootimage.id, stored)
    return stored
  }

  function putHead(head: StreamHead): void {
    heads.set(`${head.stream} ${head.arch}`, present(head))
  }

  function putLease(bootimage: BootimageId, lastSeenAt: number): void {
    leases.set(bootimage, Math.max(lastSeenAt, leases.get(bootimage) ?? 0))
  }

  return {
    ...createMemoryFleetStore(step, { pins, bootimages }),
    ...createMemoryAttempts(step),
    recordRefresh: ({ document, bootimages: records, heads: newHeads, relocated = [] }) =>
      step('recording a refresh', () => {
        putDocument(document)
        records.forEach(putBootimage)
        for (const bootimage of relocated) {
          const known = bootimages.get(bootimage.id)
          if (known !== undefined) bootimages.set(bootimage.id, present({ ...known, bootimage }))
        }
        newHeads.forEach(putHead)
      }),
    recordDocument: (document) => step('recording a document', () => putDocument(document)),
    listDocuments: ({ stream, limit } = {}) =>
      step('listing documents', () =>
        [...documents.values()]
          .filter((document) => stream === undefined || document.stream === stream)
          .sort(
            (a, b) =>
              b.lastSeenAt - a.lastSeenAt || b.firstSeenAt - a.firstSeenAt || (a.digest < b.digest ? -1 : 1),
          )
          .slice(0, limit),
      ),
    addBootimage: (record) => step('adding a bootimage', () => putBootimage(record)),
    setBootimageState: (id, change) =>
      step('setting the state of a bootimage', () => {
        const record = bootimages.get(id)
        if (!record) return
        const { failure: _cleared, ...rest } = record
        bootimages.set(id, { ...rest, ...present(change) })
      }),
    listBootimages: ({ stream, arch, release } = {}) =>
      step('listing bootimages', () =>
        [...bootimages.values()]
          .filter(
            ({ bootimage }) =>
              (stream === undefined || bootimage.stream === stream) &&
              (arch === undefined || bootimage.arch === arch) &&
              (release === undefined || bootimage.release === release),
          )
          .sort((a, b) => a.firstSeenAt - b.firstSeenAt || (a.bootimage.id < b.bootimage.id ? -1 : 1)),
      ),
    removeBootimage: (id) =>
      step('removing a bootimage', () => {
        bootimages.delete(id)
      }),
    listHeads: () => step('listing stream heads', () => valuesByKey(heads)),
    saveHead: (head) => step('saving a stream head', () => putHead(head)),
    addDerived: (record) =>
      step('recording a derived file', () => {
        derived.set(record.sha256, record)
      }),
    listDerived: () =>
      step('listing derived files', () =>
        [...derived.values()].sort((a, b) => a.at - b.at || (a.sha256 < b.sha256 ? -1 : 1)),
      ),
    savePinResolution: (pin) =>
      step('saving a resolved pin', () => {
        pins.set(`${pin.stream} ${pin.arch} ${pin.release}`, pin)
      }),
    listPinResolutions: () => step('listing resolved pins', () => valuesByKey(pins)),
    saveBootLeases: (changed) =>
      step('saving boot attempts', () => {
        for (const attempt of changed) {
          const known = attempts.get(attempt.bootId)
          attempts.set(attempt.bootId, {
            ...present(attempt),
            startedAt: known?.startedAt ?? attempt.startedAt,
            lastSeenAt: Math.max(known?.lastSeenAt ?? 0, attempt.lastSeenAt),
          })
        }
      }),
    listBootLeases: ({ lastSeenAfter, limit }) =>
      step('listing boot attempts', () =>
        [...attempts.values()]
          .filter(({ lastSeenAt }) => lastSeenAt > lastSeenAfter)
          .sort((a, b) => b.lastSeenAt - a.lastSeenAt)
          .slice(0, limit)
          .sort((a, b) => a.startedAt - b.startedAt || (a.bootId < b.bootId ? -1 : 1)),
      ),
    saveBootimageLeases: (changed) =>
      step('saving leased bootimages', () => {
        for (const { bootimage, lastSeenAt } of changed) putLease(bootimage, lastSeenAt)
      }),
    listBootimageLeases: ({ lastSeenAfter }) =>
      step('listing leased bootimages', () => {
        const all = new Map(leases)
        for (const { bootimage, lastSeenAt } of attempts.values())
          all.set(bootimage, Math.max(lastSeenAt, all.get(bootimage) ?? 0))
        return sortedByKey(all).flatMap(([bootimage, lastSeenAt]) =>
          lastSeenAt > lastSeenAfter ? [{ bootimage, lastSeenAt }] : [],
        )
      }),
    trimBootLeases: ({ lastSeenBefore, keep, most }) =>
      step('removing boot attempts', () => {
        const oldest = [...attempts.values()].sort((a, b) => a.lastSeenAt - b.lastSeenAt)
        const over = oldest.filter(({ lastSeenAt }) => lastSeenAt < lastSeenBefore).slice(0, most)
        for (const { bootId } of over) attempts.delete(bootId)
        for (const [id, seenAt] of leases) if (seenAt < lastSeenBefore) leases.delete(id)
        const folded = oldest
          .filter(({ bootId }) => attempts.has(bootId))
          .slice(0, Math.min(Math.max(0, attempts.size - keep), most))
        for (const { bootId, bootimage, lastSeenAt } of folded) {
          putLease(bootimage, lastSeenAt)
          attempts.delete(bootId)
        }
        return { over: over.length, folded: folded.length }
      }),
    saveVerified: (record) =>
      step('recording a verified file', () => {
        verified.set(record.sha256, record)
      }),
    removeVerified: (digests) =>
      step('forgetting verified files', () => {
        for (const sha256 of digests) verified.delete(sha256)
      }),
    listVerified: () => step('listing verified files', () => valuesByKey(verified)),
    async close() {
      closed = true
    },
  }
}

/** Without the fields that are `undefined`, as a database would give it back. */
function present<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T
}

function sortedByKey<Key, T>(map: ReadonlyMap<Key, T>): readonly [Key, T][] {
  return [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
}

function valuesByKey<T>(map: ReadonlyMap<string, T>): readonly T[] {
  return sortedByKey(map).map(([, value]) => value)
}
