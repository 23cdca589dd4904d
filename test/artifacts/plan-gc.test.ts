import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GcInput, planGc } from '../../src/artifacts/plan-gc.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import { artifactsOf, type Bootimage, bootimageId } from '../../src/core/bootimage.ts'
import { bootimageStates } from '../../src/core/bootimage-state.ts'
import type { Sha256 } from '../../src/core/digest.ts'
import type { StreamHead } from '../../src/state/store.ts'

const hour = 60 * 60 * 1000
const longestAttemptMs = 2 * hour
const startedAt = 1_000_000
const now = startedAt + 100 * hour

/** `a1` becomes a digest that is easy to read in a failure. */
function digest(name: string): Sha256 {
  return Buffer.from(name.padEnd(32, '.')).toString('hex') as Sha256
}

function bootimage(
  release: string,
  files: { kernel?: string; initramfs?: string; rootfs?: string } = {},
): Bootimage {
  const artifact = (role: Artifact['role'], name: string): Artifact => ({
    role,
    name,
    sha256: digest(name),
    location: `http://up.example/${name}`,
  })
  return {
    id: bootimageId('fcos', 'x86_64', release, digest(release)),
    stream: 'fcos',
    arch: 'x86_64',
    release,
    kind: 'live',
    setDigest: digest(release),
    kernel: artifact('kernel', files.kernel ?? `${release}-k`),
    initramfs: artifact('initramfs', files.initramfs ?? `${release}-i`),
    rootfs: artifact('rootfs', files.rootfs ?? `${release}-r`),
    disks: [],
  }
}

function input(sets: readonly Bootimage[], more: Partial<GcInput> = {}): GcInput {
  const files = new Set(sets.flatMap((set) => artifactsOf(set).map(({ sha256 }) => sha256)))
  return {
    blobs: [...files].map((sha256) => ({ sha256, sizeBytes: 10, modifiedAt: 0 })),
    bootimages: sets.map((set) => ({ bootimage: set, state: 'ready' })),
    heads: [],
    pins: [],
    leased: new Set(),
    derived: [],
    keep: () => 2,
    now,
    startedAt,
    longestAttemptMs,
    ...more,
  }
}

function head(more: Partial<StreamHead>): StreamHead {
  return { stream: 'fcos', arch: 'x86_64', previous: [], ...more }
}

function removed(given: GcInput): string[] {
  return planGc(given).remove.map(({ sha256 }) => Buffer.from(sha256, 'hex').toString().replace(/\.+$/, ''))
}

const [one, two, three, four] = ['1', '2', '3', '4'].map((release) => bootimage(release)) as [
  Bootimage,
  Bootimage,
  Bootimage,
  Bootimage,
]

describe('G6 garbage collection', () => {
  it('keeps current and as many previous as configured, and removes what is older', () => {
    const heads = [head({ current: four.id, previous: [three.id, two.id, one.id] })]
    expect(removed(input([one, two, three, four], { heads }))).toEqual(['1-k', '1-i', '1-r'])
    expect(removed(input([one, two, three, four], { heads, keep: () => 0 }))).toHaveLength(9)
  })

  it('keeps the target of a stream and what is held for an admin to judge', () => {
    const pending = {
      change: 'republished',
      bootimage: two.id,
      seen: 1,
      firstSeenAt: 0,
      policy: 'hold',
    } as const
    const heads = [head({ current: three.id, target: one.id, pending })]
    expect(removed(input([one, two, three, four], { heads }))).toEqual(['4-k', '4-i', '4-r'])
  })

  it('136: never removes what is pinned', () => {
    expect(removed(input([one, two], { pins: [{ bootimage: one.id }] }))).toEqual(['2-k', '2-i', '2-r'])
  })

  it('keeps what a boot in progress leases', () => {
    expect(removed(input([one, two], { leased: new Set([one.id]) }))).toEqual(['2-k', '2-i', '2-r'])
  })

  it.each(['queued', 'downloading', 'verifying', 'pending-signature'] as const)(
    'keeps the files of a set that is %s',
    (state) => {
      expect(removed(input([one], { bootimages: [{ bootimage: one, state }] }))).toEqual([])
    },
  )

  it('keeps a file that a kept set shares with an old one', () => {
    const sharing = bootimage('5', { kernel: '1-k' })
    const given = input([one, sharing], { heads: [head({ current: sharing.id })] })
    expect(removed(given)).toEqual(['1-i', '1-r'])
    expect(planGc(given).evicted).toEqual([one.id])
  })

  it('keeps what derives from a kept file, and removes it with its last user', () => {
    const unpacked = digest('plain')
    const derived = [{ sha256: unpacked, from: one.kernel.sha256, how: 'gunzip', at: 0 }] as const
    const blobs = [...input([one]).blobs, { sha256: unpacked, sizeBytes: 1, modifiedAt: now }]
    const kept = planGc(input([one], { blobs, derived, heads: [head({ current: one.id })] }))
    expect(kept.remove).toEqual([])
    expect(kept.keep).toContainEqual({ sha256: unpacked, why: 'current', bootimage: one.id })
    expect(removed(input([one], { blobs, derived }))).toContain('plain')
  })

  it('keeps an unpacked kernel that only the set’s record names', () => {
    const kernelUncompressed = digest('plain')
    const bootimages = [{ bootimage: one, state: 'ready', kernelUncompressed }] as const
    const blobs = [{ sha256: kernelUncompressed, sizeBytes: 1, modifiedAt: 0 }]
    expect(removed(input([one], { blobs, bootimages, heads: [head({ current: one.id })] }))).toEqual([])
  })

  it('removes nothing for one longest boot attempt after a start, and says until when', () => {
    const early = planGc(input([one], { now: startedAt + longestAttemptMs - 1 }))
    expect(early).toMatchObject({ postponedUntil: startedAt + longestAttemptMs, remove: [], evicted: [] })
    expect(removed(input([one], { now: startedAt + longestAttemptMs }))).toHaveLength(3)
  })

  it('removes a file that nothing names, but not while its record may still be on its way', () => {
    const orphan = digest('orphan')
    const young = input([], { blobs: [{ sha256: orphan, sizeBytes: 7, modifiedAt: now - hour + 1 }] })
    expect(planGc(young)).toMatchObject({ remove: [], keep: [{ sha256: orphan, why: 'young' }] })
    const old = input([], { blobs: [{ sha256: orphan, sizeBytes: 7, modifiedAt: now - hour }] })
    expect(planGc(old).remove).toEqual([{ sha256: orphan, sizeBytes: 7, why: 'unreferenced' }])
  })

  it('tells the strongest reason for each file', () => {
    const given = input([one], {
      heads: [head({ current: one.id })],
      pins: [{ bootimage: one.id }],
      leased: new Set([one.id]),
    })
    expect(new Set(planGc(given).keep.map(({ why }) => why))).toEqual(new Set(['current']))
    expect(new Set(planGc({ ...given, heads: [] }).keep.map(({ why }) => why))).toEqual(new Set(['pinned']))
  })

  const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g')
  const anySet = fc
    .tuple(fc.nat({ max: 9 }), names, names, names)
    .map(([release, kernel, initramfs, rootfs]) => bootimage(`r${release}`, { kernel, initramfs, rootfs }))
  const anyInput = fc
    .uniqueArray(anySet, { minLength: 1, maxLength: 6, selector: ({ id }) => id })
    .chain((sets) => {
      const id = fc.constantFrom(...sets.map((set) => set.id))
      const anySha = fc.oneof(names.map(digest), fc.constantFrom('x', 'y', 'z').map(digest))
      return fc.record({
        blobs: fc.uniqueArray(
          fc.record({ sha256: anySha, sizeBytes: fc.nat(), modifiedAt: fc.integer({ min: 0, max: now }) }),
          { selector: ({ sha256 }) => sha256, maxLength: 10 },
        ),
        bootimages: fc.tuple(
          ...sets.map((set) =>
            fc.constantFrom(...bootimageStates).map((state) => ({ bootimage: set, state })),
          ),
        ),
        heads: fc.array(
          fc.record({
            stream: fc.constant('fcos'),
            arch: fc.constant('x86_64' as const),
            current: fc.option(id, { nil: undefined }),
            target: fc.option(id, { nil: undefined }),
            previous: fc.uniqueArray(id),
          }),
          { maxLength: 2 },
        ),
        pins: fc.array(fc.record({ bootimage: id }), { maxLength: 2 }),
        leased: fc.uniqueArray(id).map((ids) => new Set(ids)),
        derived: fc.array(
          fc.record({
            sha256: anySha,
            from: anySha,
            how: fc.constant('gunzip' as const),
            at: fc.constant(0),
          }),
          { maxLength: 4 },
        ),
        kept: fc.integer({ min: 0, max: 3 }),
        age: fc.integer({ min: 0, max: 5 * hour }),
      })
    })
    .map(
      ({ kept, age, ...rest }): GcInput => ({
        ...rest,
        keep: () => kept,
        now,
        startedAt: now - age,
        longestAttemptMs,
      }),
    )

  it('never removes a file of what is current, previous, target, pinned, leased or being fetched, nor what derives from it', () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        const plan = planGc(given)
        const holders = new Set(
          [
            ...given.heads.flatMap(({ current, target, previous }) => [
              current,
              target,
              ...previous.slice(0, given.keep('fcos')),
            ]),
            ...given.pins.map((pin) => pin.bootimage),
            ...given.leased,
            ...given.bootimages
              .filter(({ state }) =>
                ['queued', 'downloading', 'verifying', 'pending-signature'].includes(state),
              )
              .map((record) => record.bootimage.id),
          ].filter((id) => id !== undefined),
        )
        const sacred = new Set(
          given.bootimages
            .filter((record) => holders.has(record.bootimage.id))
            .flatMap((record) => artifactsOf(record.bootimage).map(({ sha256 }) => sha256)),
        )
        for (const _ of given.derived) {
          for (const { sha256, from } of given.derived) if (sacred.has(from)) sacred.add(sha256)
        }
        for (const { sha256 } of plan.remove) expect(sacred.has(sha256)).toBe(false)
        for (const id of plan.evicted) expect(holders.has(id)).toBe(false)
        if (given.now < given.startedAt + longestAttemptMs) expect(plan.remove).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('decides about every blob exactly once, and evicts every set that loses a file', () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        const plan = planGc(given)
        const removing = new Set(plan.remove.map(({ sha256 }) => sha256))
        const decided = [...plan.remove, ...plan.keep].map(({ sha256 }) => sha256)
        if (plan.postponedUntil === undefined) {
          expect(decided.toSorted()).toEqual(given.blobs.map(({ sha256 }) => sha256).toSorted())
        }
        const losing = given.bootimages.filter((record) =>
          artifactsOf(record.bootimage).some(({ sha256 }) => removing.has(sha256)),
        )
        expect(plan.evicted).toEqual(losing.map((record) => record.bootimage.id))
      }),
    )
  })
})
