import { beforeEach, describe, expect, it } from 'vitest'
import type { BootimageId } from '../../src/core/bootimage.ts'
import type { Host } from '../../src/core/host.ts'
import { type Ledger, openLedger } from '../../src/rollout/ledger.ts'
import { createPinResolver, type FoundRelease, type PinResolver } from '../../src/rollout/pin-resolver.ts'
import { isPinOfGone, wantedPins } from '../../src/rollout/wanted-pins.ts'
import { createFleetView } from '../../src/runtime/fleet/fleet-view.ts'
import type { DocumentRecord, StateStore } from '../../src/state/store.ts'
import { makeBootimage, makeRecord, sha256Of } from '../fakes/bootimages.ts'
import { mac, makeGroup, makeHost, makeInventory, makeProfile, nodeMac } from '../fakes/machines.ts'
import { createManualTime, type ManualTime, settled } from '../fakes/manual-time.ts'
import { createMemoryStore } from '../fakes/memory-store.ts'
import { createRecordingLog } from '../fakes/recording-log.ts'

const image = makeBootimage({ release: '44.20260601.3.0' })
const pin = { stream: 'fcos-stable', arch: 'x86_64', release: image.release } as const
const document: DocumentRecord = {
  digest: sha256Of('release.json'),
  stream: 'fcos-stable',
  format: 'release',
  source: 'https://builds.example/release.json',
  sizeBytes: 1,
  firstSeenAt: 1,
  lastSeenAt: 1,
}

let time: ManualTime
let store: StateStore
let ledger: Ledger
let answer: FoundRelease
let asked: number
let ensured: BootimageId[]
let resolver: PinResolver
let log: ReturnType<typeof createRecordingLog>

beforeEach(async () => {
  time = createManualTime()
  store = createMemoryStore()
  answer = { kind: 'not-found', reason: 'in no document' }
  asked = 0
  ensured = []
  await open()
})

async function open(): Promise<void> {
  ledger = await openLedger(store)
  log = createRecordingLog()
  resolver = createPinResolver({
    ledger,
    findRelease: async () => {
      asked += 1
      return answer
    },
    recordDocument: (record) => store.recordDocument(record),
    ensure: (id) => ensured.push(id),
    onChanged: () => {},
    clock: time,
    timers: time,
    log,
  })
}

describe('a pin is resolved', () => {
  it('G5 from what is known here, and stays with those digests when the release is published again', async () => {
    await ledger.addBootimage(makeRecord(image, 'known'))
    await resolver.setWanted([pin])
    expect(ensured).toEqual([image.id])
    const again = makeBootimage({ release: image.release, edition: 'second' })
    await ledger.addBootimage(makeRecord(again, 'ready'))
    await open()
    await resolver.setWanted([pin])
    expect(ensured.at(-1)).toBe(image.id)
    expect(asked).toBe(0)
    expect([...resolver.pinned()]).toEqual([image.id])
  })

  it('G5 leaves digests that nobody could ever have for those of a corrected document, and no others', async () => {
    await ledger.addBootimage(makeRecord(image, 'known'))
    await resolver.setWanted([pin])
    const corrected = makeBootimage({ release: image.release, edition: 'second' })
    await ledger.addBootimage(makeRecord(corrected, 'queued'))
    await resolver.retry()
    expect([...resolver.pinned()]).toEqual([image.id])

    const failure = { code: 'ARTIFACT_DIGEST_MISMATCH', message: 'wrong', at: 1 }
    await ledger.setState(image.id, { state: 'failed', failure })
    await resolver.retry()
    expect([...resolver.pinned()]).toEqual([corrected.id])
    expect(ensured.at(-1)).toBe(corrected.id)

    await ledger.setState(corrected.id, { state: 'ready', readyAt: 2 })
    await ledger.setState(corrected.id, { state: 'failed', failure })
    await ledger.addBootimage(
      makeRecord(makeBootimage({ release: image.release, edition: 'third' }), 'ready'),
    )
    await resolver.retry()
    expect([...resolver.pinned()]).toEqual([corrected.id])
  })

  it('to the verified publication where there are two, and never to a held one', async () => {
    const again = makeBootimage({ release: image.release, edition: 'second' })
    await ledger.addBootimage(makeRecord(again, 'held'))
    await ledger.addBootimage(makeRecord(image, 'ready'))
    await resolver.setWanted([pin])
    expect(ensured).toEqual([image.id])
  })

  it('G5 G6 when it comes into force beside others, at once, and is kept until all are told without it', async () => {
    const other = makeBootimage({ release: '44.20260707.3.1' })
    await ledger.addBootimage(makeRecord(image, 'known'))
    await ledger.addBootimage(makeRecord(other, 'known'))
    await resolver.setWanted([pin])
    await resolver.want([{ ...pin, release: other.release }])
    expect(ensured).toEqual([image.id, other.id])
    expect([...resolver.pinned()].sort()).toEqual([image.id, other.id].sort())
    await resolver.setWanted([pin])
    expect([...resolver.pinned()]).toEqual([image.id])
  })

  it('G5 as somebody else wrote it into the store, with a bootimage that was not known', async () => {
    await store.addBootimage(makeRecord(image, 'ready'))
    await store.savePinResolution({ ...pin, bootimage: image.id, resolvedAt: 1 })
    expect(ledger.bootimages.size).toBe(0)
    await ledger.reloadPins()
    await resolver.setWanted([pin])
    expect([...resolver.pinned()]).toEqual([image.id])
    expect(asked).toBe(0)
  })

  it('from the release index, with the document kept', async () => {
    answer = { kind: 'found', bootimage: image, document }
    await resolver.setWanted([pin])
    expect(ensured).toEqual([image.id])
    expect(await store.listDocuments()).toHaveLength(1)
    expect(await store.listPinResolutions()).toMatchObject([{ release: image.release, bootimage: image.id }])
  })
})

describe('a pin that cannot be resolved', () => {
  it("is nobody's news, and is not looked for again, when everything stops meanwhile", async () => {
    const looking = resolver.setWanted([pin])
    await resolver.stop()
    await looking
    expect(asked).toBe(1)
    expect(log.lines).toEqual([])
    expect(time.pending).toBe(0)
  })

  it('says why, and is looked for again later and later', async () => {
    await resolver.setWanted([pin])
    expect(resolver.unresolved().get('fcos-stable/x86_64/44.20260601.3.0')).toBe('in no document')
    await time.advance(30_000)
    expect(asked).toBe(2)
    await time.advance(59_000)
    expect(asked).toBe(2)
    answer = { kind: 'found', bootimage: image, document }
    await time.advance(1_000)
    expect(ensured).toEqual([image.id])
    expect(resolver.unresolved().size).toBe(0)
    expect(time.pending).toBe(0)
  })

  it('is looked for at once when a new document is here', async () => {
    await resolver.setWanted([pin])
    await ledger.addBootimage(makeRecord(image, 'known'))
    await resolver.retry()
    expect(ensured).toEqual([image.id])
  })

  it('is forgotten with its host', async () => {
    await resolver.setWanted([pin])
    await resolver.setWanted([])
    await time.advance(3_600_000)
    expect(asked).toBe(1)
  })

  it('a thousand machines that ask for it in one instant cause one look', async () => {
    const { arch: _, ...otherArch } = pin
    await resolver.setWanted([{ ...otherArch, arch: 'aarch64' }])
    asked = 0
    for (let machine = 0; machine < 1000; machine += 1) resolver.request(pin)
    await settled()
    for (let machine = 0; machine < 1000; machine += 1) resolver.request(pin)
    await settled()
    expect(asked).toBe(1)
  })
})

describe('what a machine waits for', () => {
  it('is not looked for and holds nothing when no pin names it: the stream fetches it anyway', async () => {
    await ledger.addBootimage(makeRecord(image, 'queued'))
    resolver.request(pin)
    await settled()
    expect([ensured, asked, resolver.pinned().size, ledger.pins.size]).toEqual([[], 0, 0, 0])
  })

  it('G5 for an architecture that nobody foresaw is held as long as the pin, and no longer', async () => {
    const foreseen = { ...pin, arch: 'aarch64' } as const
    await ledger.addBootimage(makeRecord(image, 'known'))
    await resolver.setWanted([foreseen])
    resolver.request(pin)
    await settled()
    expect(ensured).toEqual([image.id])
    expect([...resolver.pinned()]).toEqual([image.id])
    // Also after a restart, when nobody has asked yet.
    await open()
    await resolver.setWanted([foreseen])
    expect([...resolver.pinned()]).toEqual([image.id])
    await resolver.setWanted([])
    expect(resolver.pinned().size).toBe(0)
  })
})

describe('wantedPins', () => {
  const profiles = [makeProfile({ name: 'worker', stream: 'fcos-stable', mode: 'live' })]
  const follows = () => ['x86_64', 'aarch64'] as const
  const release = { release: '44.20260601.3.0' }

  it('a host without an architecture may come with any that its stream follows', () => {
    const inventory = makeInventory({ profiles, hosts: [makeHost({ profile: 'worker', pins: [release] })] })
    expect(wantedPins(inventory, follows, 0).map(({ arch }) => arch)).toEqual(['x86_64', 'aarch64'])
  })

  it('a host with an architecture needs that one alone, even if nobody follows it', () => {
    const host = makeHost({ profile: 'worker', pins: [release], arch: 's390x' })
    expect(wantedPins(makeInventory({ profiles, hosts: [host] }), follows, 0)).toEqual([
      { stream: 'fcos-stable', arch: 's390x', ...release },
    ])
  })

  it('a pin of a group counts for its hosts; one that is over does not count', () => {
    const groups = [
      makeGroup({
        name: 'edge',
        labels: { site: 'edge' },
        profile: 'worker',
        pins: [{ ...release, until: 100 }],
      }),
    ]
    const hosts = [
      makeHost({ labels: { site: 'edge' } }),
      makeHost({ id: 'n02', macs: [mac('52:54:00:00:00:02')] }),
    ]
    const inventory = makeInventory({ profiles, groups, hosts })
    expect(wantedPins(inventory, follows, 99)).toHaveLength(2)
    expect(wantedPins(inventory, follows, 100)).toEqual([])
  })

  it('a pin that was set at run time counts for its host and, when that has gone, for its MACs', () => {
    const setting = {
      kind: 'pin',
      target: { kind: 'host', name: 'n01' },
      release: '43.1',
      arch: 'aarch64',
      by: 'alice',
      at: 1,
      macs: [nodeMac],
    } as const
    const view = createFleetView()
    view.apply([{ put: 'setting', setting }])
    view.takeFiles(makeInventory({ profiles, hosts: [makeHost({ profile: 'worker' })] }))
    const wanted = { stream: 'fcos-stable', arch: 'aarch64', release: '43.1' } as const
    expect(wantedPins(view.inventory(), follows, 0)).toEqual([wanted])
    expect(isPinOfGone(view.inventory())(wanted)).toBe(false)

    view.takeFiles(makeInventory({ profiles, hosts: [makeHost({ id: 'renamed', profile: 'worker' })] }))
    expect(wantedPins(view.inventory(), follows, 0)).toEqual([wanted])

    view.takeFiles(makeInventory({ profiles }))
    expect(wantedPins(view.inventory(), follows, 0)).toEqual([])
    expect(isPinOfGone(view.inventory())(wanted)).toBe(true)
    expect(isPinOfGone(view.inventory())({ ...wanted, arch: 'x86_64' })).toBe(false)
  })

  it('one host of a rack stands for all that the same places pin, and those that differ for themselves', () => {
    const rack = (name: string, count: number, more: Partial<Host>) =>
      Array.from({ length: count }, (_, index) =>
        makeHost({ id: `${name}${index}`, macs: [], serial: `${name}${index}`, profile: 'worker', ...more }),
      )
    const groups = [makeGroup({ name: 'edge', labels: { site: 'edge' }, pins: [release] })]
    const hosts = [
      ...rack('a', 50, { labels: { site: 'edge' }, arch: 'x86_64' }),
      ...rack('b', 50, { labels: { site: 'edge' }, arch: 'aarch64' }),
      ...rack('c', 50, { labels: { site: 'hall' } }),
      ...rack('d', 1, { labels: { site: 'hall' }, arch: 'x86_64', pins: [{ release: '43.1' }] }),
    ]
    expect(wantedPins(makeInventory({ profiles, groups, hosts }), follows, 0)).toEqual([
      { stream: 'fcos-stable', arch: 'x86_64', release: '43.1' },
      { stream: 'fcos-stable', arch: 'x86_64', ...release },
      { stream: 'fcos-stable', arch: 'aarch64', ...release },
    ])
  })

  it('the profile of unknown machines counts', () => {
    const inventory = makeInventory({
      profiles: [makeProfile({ name: 'guest', stream: 'fcos-stable', mode: 'live', pins: [release] })],
      unknown: { kind: 'profile', profile: 'guest' },
    })
    expect(wantedPins(inventory, follows, 0)).toHaveLength(2)
  })
})
