import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planSync, urgencies, type WantedSet } from '../../src/artifacts/plan-sync.ts'
import type { Artifact } from '../../src/core/artifact.ts'
import { artifactsOf, type Bootimage, bootimageId } from '../../src/core/bootimage.ts'
import { bootimageStates } from '../../src/core/bootimage-state.ts'
import type { Sha256 } from '../../src/core/digest.ts'

function digest(name: string): Sha256 {
  return Buffer.from(name.padEnd(32, '.')).toString('hex') as Sha256
}

function artifact(role: Artifact['role'], name: string): Artifact {
  return { role, name, sha256: digest(name), location: `http://up.example/${name}` }
}

function bootimage(release: string, kernel = `${release}-k`, disks: readonly Artifact[] = []): Bootimage {
  return {
    id: bootimageId('fcos', 'x86_64', release, digest(release)),
    stream: 'fcos',
    arch: 'x86_64',
    release,
    kind: 'live',
    setDigest: digest(release),
    kernel: artifact('kernel', kernel),
    initramfs: artifact('initramfs', `${release}-i`),
    rootfs: artifact('rootfs', `${release}-r`),
    disks,
  }
}

function names(wanted: readonly WantedSet[], present: readonly string[] = []): string[] {
  const plan = planSync({ wanted, present: new Set(present.map(digest)) })
  return plan.steps.flatMap(({ fetch }) => fetch.map(({ name }) => name))
}

const wanted = (
  set: Bootimage,
  urgency: WantedSet['urgency'],
  state: WantedSet['state'] = 'queued',
): WantedSet => ({
  bootimage: set,
  state,
  urgency,
})

describe('planSync', () => {
  it('fetches set after set, in each kernel and initramfs first', () => {
    const plan = [wanted(bootimage('1'), 'target'), wanted(bootimage('2'), 'target')]
    expect(names(plan)).toEqual(['1-k', '1-i', '1-r', '2-k', '2-i', '2-r'])
  })

  it('the most urgent set comes first, whatever the order given', () => {
    const sets = urgencies.map((urgency, index) => wanted(bootimage(String(index)), urgency))
    const plan = planSync({ wanted: sets.toReversed(), present: new Set() })
    expect(plan.steps.map(({ urgency }) => urgency)).toEqual([...urgencies])
  })

  it('leaves out what is there, and asks again for a ready set that lost a file', () => {
    const set = bootimage('1')
    expect(names([wanted(set, 'target')], ['1-k', '1-r'])).toEqual(['1-i'])
    expect(names([wanted(set, 'current', 'ready')], ['1-k', '1-i'])).toEqual(['1-r'])
  })

  it('a file that several sets share is fetched once, with the first', () => {
    const plan = [wanted(bootimage('1', 'same'), 'target'), wanted(bootimage('2', 'same'), 'target')]
    expect(names(plan)).toEqual(['same', '1-i', '1-r', '2-i', '2-r'])
  })

  it('a file that one set names twice is fetched once', () => {
    const disk = artifact('disk', 'metal')
    const set = bootimage('1', '1-k', [disk, { ...disk, variant: 'metal-bios' }])
    expect(names([wanted(set, 'target')])).toEqual(['1-k', '1-i', '1-r', 'metal'])
  })

  it('a set that is complete but for its signature is a step without files', () => {
    const set = bootimage('1')
    const plan = planSync({
      wanted: [wanted(set, 'target', 'pending-signature')],
      present: new Set(artifactsOf(set).map(({ sha256 }) => sha256)),
    })
    expect(plan.steps).toMatchObject([{ fetch: [], onlySignatures: true }])
  })

  it('skips what is held and what is complete, and says why', () => {
    const set = bootimage('1')
    const plan = planSync({
      wanted: [wanted(bootimage('2'), 'pinned', 'held'), wanted(set, 'current', 'ready')],
      present: new Set(artifactsOf(set).map(({ sha256 }) => sha256)),
    })
    expect(plan.steps).toEqual([])
    expect(plan.skipped.map(({ why }) => why)).toEqual(['complete', 'held'])
  })

  it('a set that is wanted twice is one step, as urgent as the more urgent', () => {
    const set = bootimage('1')
    const plan = planSync({
      wanted: [wanted(set, 'previous'), wanted(set, 'waiting-node')],
      present: new Set(),
    })
    expect(plan.steps).toMatchObject([{ urgency: 'waiting-node' }])
  })

  it('whatever is wanted, no file is fetched twice or that is there, and none that is missing is forgotten', () => {
    const anyWanted = fc.record({
      bootimage: fc
        .tuple(fc.nat({ max: 5 }), fc.constantFrom('a', 'b'))
        .map(([release, kernel]) => bootimage(`${release}${kernel}`, kernel)),
      state: fc.constantFrom(...bootimageStates),
      urgency: fc.constantFrom(...urgencies),
    })
    fc.assert(
      fc.property(
        fc.array(anyWanted),
        fc.subarray(['a', 'b', '0a-i', '0a-r', '1a-i', '1b-r']),
        (sets, there) => {
          const fetched = names(sets, there)
          expect(new Set(fetched).size).toBe(fetched.length)
          for (const name of there) expect(fetched).not.toContain(name)
          const { skipped } = planSync({ wanted: sets, present: new Set(there.map(digest)) })
          const left = new Set(skipped.map((entry) => entry.bootimage.id))
          for (const { bootimage: set } of sets) {
            if (left.has(set.id)) continue
            for (const { name } of artifactsOf(set))
              expect(there.includes(name) || fetched.includes(name)).toBe(true)
          }
        },
      ),
    )
  })
})
