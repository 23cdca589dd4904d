import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BootLease } from '../../src/core/boot-lease.ts'
import type { BootimageId } from '../../src/core/bootimage.ts'
import { parseMac } from '../../src/core/mac.ts'
import type { DocumentRecord, StateStore, StreamHead } from '../../src/state/store.ts'
import { makeBootimage, makeRecord, sha256Of, someIdentity } from '../fakes/bootimages.ts'
import { makeBootId } from '../fakes/stored-fleet.ts'
import { describeAttemptStore } from './attempt-store.ts'
import { describeFleetStore } from './fleet-store.ts'

export interface StateStoreUnderTest {
  readonly store: StateStore
  readonly cleanUp?: () => Promise<void>
}

const t0 = Date.UTC(2026, 10, 29)

export function makeDocument(extra: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    digest: sha256Of('document'),
    stream: 'fcos-stable',
    format: 'stream',
    source: 'https://builds.example/streams/stable.json',
    label: 'stable',
    sizeBytes: 64_000,
    firstSeenAt: t0,
    lastSeenAt: t0,
    ...extra,
  }
}

function makeAttempt(number: number, extra: Partial<BootLease> = {}): BootLease {
  return {
    bootId: makeBootId(number),
    bootimage: makeBootimage().id,
    startedAt: t0,
    lastSeenAt: t0,
    ...extra,
  }
}

/** What every state store does, whatever it is made of. */
export function describeStateStore(name: string, open: () => Promise<StateStoreUnderTest>): void {
  describe(`state store: ${name}`, () => {
    let subject: StateStoreUnderTest
    let store: StateStore
    let directory: string

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'pilotlight-backups-'))
      subject = await open()
      store = subject.store
    })
    afterEach(async () => {
      await store.close()
      await subject.cleanUp?.()
      await rm(directory, { recursive: true })
    })

    it('is empty at first', async () => {
      expect(await store.listDocuments()).toEqual([])
      expect(await store.listBootimages()).toEqual([])
      expect(await store.listHeads()).toEqual([])
      expect(await store.listDerived()).toEqual([])
      expect(await store.listPinResolutions()).toEqual([])
      expect(await store.listBootLeases({ lastSeenAfter: 0, limit: 1000 })).toEqual([])
      expect(await store.listBootimageLeases({ lastSeenAfter: 0 })).toEqual([])
      expect(await store.listVerified()).toEqual([])
    })

    it('G3 a refresh writes its document, bootimages and heads together', async () => {
      const live = makeBootimage()
      const legacy = makeBootimage({
        stream: 'rhcos-4.1',
        kind: 'legacy-installer',
        release: '410.8.20190520.0',
      })
      const head: StreamHead = {
        stream: 'fcos-stable',
        arch: 'x86_64',
        current: live.id,
        previous: [legacy.id],
        target: legacy.id,
        lastChange: 'advanced',
        pending: {
          change: 'rolled-back',
          bootimage: legacy.id,
          release: legacy.release,
          seen: 1,
          firstSeenAt: t0,
          policy: 'confirm',
        },
        changedAt: t0,
      }
      await store.recordRefresh({
        document: makeDocument(),
        bootimages: [
          makeRecord(live, 'queued', { firstSeenAt: t0 }),
          makeRecord(legacy, 'known', { firstSeenAt: t0 + 1 }),
        ],
        heads: [head, { stream: 'fcos-stable', arch: 'aarch64', previous: [] }],
      })

      expect(await store.listDocuments()).toEqual([makeDocument()])
      expect((await store.listBootimages()).map(({ bootimage, state }) => [bootimage, state])).toEqual([
        [withoutUndefined(live), 'queued'],
        [withoutUndefined(legacy), 'known'],
      ])
      expect(await store.listHeads()).toEqual([
        { stream: 'fcos-stable', arch: 'aarch64', previous: [] },
        head,
      ])
    })

    it('a refresh that names a known bootimage leaves its state alone', async () => {
      const bootimage = makeBootimage()
      await store.addBootimage(makeRecord(bootimage, 'queued'))
      await store.setBootimageState(bootimage.id, { state: 'ready', readyAt: t0 })
      await store.recordRefresh({
        document: makeDocument(),
        bootimages: [makeRecord(bootimage, 'known', { firstSeenAt: t0 })],
        heads: [],
      })
      expect(await store.listBootimages()).toMatchObject([{ state: 'ready', readyAt: t0, firstSeenAt: 1000 }])
    })

    it('a set that moved to other places keeps its state', async () => {
      const bootimage = makeBootimage()
      await store.addBootimage(makeRecord(bootimage, 'ready', { readyAt: t0 }))
      const kernel = { ...bootimage.kernel, location: 'https://elsewhere.example/kernel' }
      await store.recordRefresh({
        document: makeDocument(),
        bootimages: [],
        heads: [],
        relocated: [{ ...bootimage, kernel }],
      })
      expect(await store.listBootimages()).toMatchObject([
        {
          state: 'ready',
          readyAt: t0,
          bootimage: { id: bootimage.id, kernel: { location: kernel.location } },
        },
      ])
    })

    it('a document seen again is only seen later, and belongs to each stream by itself', async () => {
      await store.recordDocument(makeDocument())
      await store.recordDocument(
        makeDocument({ firstSeenAt: t0 + 5, lastSeenAt: t0 + 5, source: 'elsewhere' }),
      )
      await store.recordDocument(makeDocument({ firstSeenAt: t0 - 5, lastSeenAt: t0 - 5 }))
      await store.recordDocument(makeDocument({ stream: 'mirror', label: undefined }))
      expect(await store.listDocuments({ stream: 'fcos-stable' })).toEqual([
        makeDocument({ lastSeenAt: t0 + 5 }),
      ])
      const [mirror] = await store.listDocuments({ stream: 'mirror' })
      expect(mirror).toBeDefined()
      expect(mirror).not.toHaveProperty('label')
    })

    it('lists documents newest first and no more than asked for', async () => {
      for (const age of [3, 1, 2]) {
        await store.recordDocument(
          makeDocument({ digest: sha256Of(`${age}`), firstSeenAt: 1, lastSeenAt: t0 - age }),
        )
      }
      expect((await store.listDocuments()).map(({ lastSeenAt }) => t0 - lastSeenAt)).toEqual([1, 2, 3])
      expect((await store.listDocuments({ limit: 2 })).map(({ lastSeenAt }) => t0 - lastSeenAt)).toEqual([
        1, 2,
      ])
      expect(await store.listDocuments({ stream: 'other', limit: 2 })).toEqual([])
    })

    it('adding a known bootimage returns what is already there', async () => {
      const bootimage = makeBootimage()
      expect(await store.addBootimage(makeRecord(bootimage, 'held'))).toMatchObject({ state: 'held' })
      expect(await store.addBootimage(makeRecord(bootimage, 'queued'))).toMatchObject({ state: 'held' })
    })

    it('G8 two publications of one release are two bootimages', async () => {
      await store.addBootimage(makeRecord(makeBootimage(), 'ready'))
      await store.addBootimage(makeRecord(makeBootimage({ edition: 'again' }), 'held'))
      const found = await store.listBootimages({ release: makeBootimage().release })
      expect(found.map(({ state }) => state).sort()).toEqual(['held', 'ready'])
    })

    it('a new state replaces the failure and keeps when it was ready', async () => {
      const { id } = (await store.addBootimage(makeRecord(makeBootimage({ arch: 'aarch64' }), 'queued')))
        .bootimage
      const kernelUncompressed = sha256Of('Image')
      const failure = { code: 'UPSTREAM_UNREACHABLE', message: 'nothing answered', at: t0 }

      await store.setBootimageState(id, { state: 'failed', failure })
      expect(await store.listBootimages()).toMatchObject([{ state: 'failed', failure }])

      await store.setBootimageState(id, { state: 'ready', readyAt: t0 + 1, kernelUncompressed })
      const [ready] = await store.listBootimages()
      expect(ready).toMatchObject({ state: 'ready', readyAt: t0 + 1, kernelUncompressed })
      expect(ready).not.toHaveProperty('failure')

      await store.setBootimageState(id, { state: 'failed', failure })
      expect(await store.listBootimages()).toMatchObject([
        { state: 'failed', readyAt: t0 + 1, kernelUncompressed },
      ])
    })

    it('setting or removing what is not there changes nothing', async () => {
      await store.setBootimageState(makeBootimage().id, { state: 'ready' })
      await store.removeBootimage(makeBootimage().id)
      expect(await store.listBootimages()).toEqual([])
    })

    it('finds bootimages by stream, architecture and release', async () => {
      const wanted = makeBootimage({ arch: 'aarch64', release: '43.1' })
      const others = [
        makeBootimage(),
        makeBootimage({ release: '43.1' }),
        makeBootimage({ stream: 'next', arch: 'aarch64', release: '43.1' }),
      ]
      for (const bootimage of [wanted, ...others]) await store.addBootimage(makeRecord(bootimage, 'known'))
      const found = await store.listBootimages({ stream: 'fcos-stable', arch: 'aarch64', release: '43.1' })
      expect(found.map(({ bootimage }) => bootimage.id)).toEqual([wanted.id])
      expect(await store.listBootimages({ arch: 'x86_64' })).toHaveLength(2)

      await store.removeBootimage(wanted.id)
      expect(await store.listBootimages()).toHaveLength(3)
    })

    it('a saved head replaces the one before, with all its optional fields', async () => {
      const { id } = makeBootimage()
      await store.saveHead({
        stream: 's',
        arch: 'x86_64',
        current: id,
        previous: [],
        target: id,
        changedAt: t0,
      })
      await store.saveHead({ stream: 's', arch: 'x86_64', previous: [id] })
      expect(await store.listHeads()).toEqual([{ stream: 's', arch: 'x86_64', previous: [id] }])
    })

    it('keeps where derived files came from', async () => {
      const derived = {
        sha256: sha256Of('Image'),
        from: sha256Of('Image.gz'),
        how: 'gunzip',
        at: t0,
      } as const
      await store.addDerived(derived)
      await store.addDerived(derived)
      expect(await store.listDerived()).toEqual([derived])
    })

    it('G5 a pin resolution is found again and the last one counts', async () => {
      const pin = {
        stream: 'fcos-stable',
        arch: 'x86_64',
        release: '44.20260707.3.1',
        bootimage: makeBootimage().id,
        resolvedAt: t0,
      } as const
      const republished = { ...pin, bootimage: makeBootimage({ edition: 'again' }).id, resolvedAt: t0 + 1 }
      await store.savePinResolution(pin)
      await store.savePinResolution({ ...pin, arch: 'aarch64' })
      await store.savePinResolution(republished)
      expect(await store.listPinResolutions()).toEqual([{ ...pin, arch: 'aarch64' }, republished])
    })

    it('G6 a late write never makes a lease older', async () => {
      const mac = parseMac('52:54:00:ab:cd:ef')
      await store.saveBootLeases([makeAttempt(1, { lastSeenAt: t0 + 60_000 })])
      await store.saveBootLeases([
        makeAttempt(1, { startedAt: t0 + 9, lastSeenAt: t0 + 1, host: 'n01', mac, address: '192.0.2.9' }),
      ])
      expect(await store.listBootLeases({ lastSeenAfter: 0, limit: 1000 })).toEqual([
        makeAttempt(1, { lastSeenAt: t0 + 60_000, host: 'n01', mac, address: '192.0.2.9' }),
      ])
    })

    it('takes a thousand boot attempts at once and forgets the old ones', async () => {
      const attempts = Array.from({ length: 1000 }, (_, index) =>
        makeAttempt(index, { lastSeenAt: t0 + index }),
      )
      await store.saveBootLeases(attempts)
      await store.saveBootLeases([])
      expect(await store.listBootLeases({ lastSeenAfter: t0 + 899, limit: 1000 })).toHaveLength(100)
      expect(await store.trimBootLeases({ lastSeenBefore: t0 + 900, keep: 1000, most: 500 })).toEqual({
        over: 500,
        folded: 0,
      })
      expect(await store.trimBootLeases({ lastSeenBefore: t0 + 900, keep: 1000, most: 500 })).toMatchObject({
        over: 400,
      })
      expect(await store.listBootLeases({ lastSeenAfter: 0, limit: 1000 })).toHaveLength(100)
    })

    it('G6 attempts that are too many leave the lease of their bootimage behind, oldest first', async () => {
      const [one, two] = [makeBootimage().id, makeBootimage({ release: '45.1' }).id]
      await store.saveBootLeases([
        makeAttempt(1, { bootimage: one, lastSeenAt: t0 + 1 }),
        makeAttempt(2, { bootimage: one, lastSeenAt: t0 + 2 }),
        makeAttempt(3, { bootimage: two, lastSeenAt: t0 + 3 }),
        makeAttempt(4, { bootimage: two, lastSeenAt: t0 + 4 }),
      ])
      const limits = { lastSeenBefore: t0, keep: 1, most: 2 }
      expect(await store.trimBootLeases(limits)).toEqual({ over: 0, folded: 2 })
      expect(await store.trimBootLeases(limits)).toEqual({ over: 0, folded: 1 })
      expect(await store.trimBootLeases(limits)).toEqual({ over: 0, folded: 0 })
      expect(await store.listBootLeases({ lastSeenAfter: 0, limit: 9 })).toMatchObject([
        { bootId: makeBootId(4) },
      ])
      const leases = [
        { bootimage: one, lastSeenAt: t0 + 2 },
        { bootimage: two, lastSeenAt: t0 + 4 },
      ]
      const byBootimage = (a: { bootimage: string }, b: { bootimage: string }) =>
        a.bootimage < b.bootimage ? -1 : 1
      expect((await store.listBootimageLeases({ lastSeenAfter: 0 })).toSorted(byBootimage)).toEqual(
        leases.toSorted(byBootimage),
      )
      expect(await store.listBootimageLeases({ lastSeenAfter: t0 + 3 })).toEqual([leases[1]])
    })

    it('G6 a lease that stands for many never goes back, and ends', async () => {
      const bootimage = makeBootimage().id
      await store.saveBootimageLeases([{ bootimage, lastSeenAt: t0 + 5 }])
      await store.saveBootimageLeases([{ bootimage, lastSeenAt: t0 + 1 }])
      expect(await store.listBootimageLeases({ lastSeenAfter: t0 })).toEqual([
        { bootimage, lastSeenAt: t0 + 5 },
      ])
      await store.trimBootLeases({ lastSeenBefore: t0 + 6, keep: 10, most: 10 })
      expect(await store.listBootimageLeases({ lastSeenAfter: 0 })).toEqual([])
    })

    it('loads no more boot attempts than asked for, the newest', async () => {
      await store.saveBootLeases([1, 2, 3].map((age) => makeAttempt(age, { lastSeenAt: t0 - age })))
      expect(await store.listBootLeases({ lastSeenAfter: 0, limit: 2 })).toMatchObject([
        { bootId: makeBootId(1) },
        { bootId: makeBootId(2) },
      ])
    })

    it('G1 keeps what each file was like when it was verified, and the last look counts', async () => {
      const kernel = { sha256: sha256Of('kernel'), identity: someIdentity, verifiedAt: t0 }
      const signature = { sha256: sha256Of('signature'), identity: someIdentity }
      await store.saveVerified({ ...kernel, signature })
      await store.saveVerified({ sha256: sha256Of('rootfs'), identity: someIdentity, verifiedAt: t0 })
      await store.saveVerified({ ...kernel, verifiedAt: t0 + 1 })
      expect((await store.listVerified()).find(({ sha256 }) => sha256 === kernel.sha256)).toEqual({
        ...kernel,
        verifiedAt: t0 + 1,
      })
      await store.removeVerified([sha256Of('rootfs'), sha256Of('absent')])
      expect(await store.listVerified()).toHaveLength(1)
    })

    it('parallel writes do not get into each other', async () => {
      const bootimages = Array.from({ length: 20 }, (_, index) => makeBootimage({ release: `44.${index}` }))
      await Promise.all(
        bootimages.map((bootimage) =>
          store.recordRefresh({
            document: makeDocument(),
            bootimages: [makeRecord(bootimage, 'known')],
            heads: [{ stream: 'fcos-stable', arch: 'x86_64', current: bootimage.id, previous: [] }],
          }),
        ),
      )
      expect(await store.listBootimages()).toHaveLength(20)
      expect(await store.listHeads()).toHaveLength(1)
    })

    it('text with quotes, emoji and SQL comes back as it went in', async () => {
      const source = `file:///srv/"o'brien"/\u{1f680}/'; drop table document; --`
      await store.recordDocument(makeDocument({ source }))
      expect(await store.listDocuments()).toMatchObject([{ source }])
    })

    it('what it gives out cannot change what it holds', async () => {
      await store.saveHead({ stream: 's', arch: 'x86_64', previous: [] })
      for (const head of await store.listHeads()) (head.previous as BootimageId[]).push(makeBootimage().id)
      expect(await store.listHeads()).toEqual([{ stream: 's', arch: 'x86_64', previous: [] }])
    })

    describeAttemptStore(() => store)

    describeFleetStore(
      () => store,
      () => directory,
    )

    it('a closed store says so, and closing twice is fine', async () => {
      await store.close()
      await store.close()
      await expect(store.listHeads()).rejects.toMatchObject({
        code: 'STATE_UNAVAILABLE',
        message: 'listing stream heads: the state store is closed',
      })
    })
  })
}

function withoutUndefined<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
