import { describe, expect, it } from 'vitest'
import type { Bootimage } from '../../src/core/bootimage.ts'
import type { ChangeClass } from '../../src/core/change.ts'
import { type ChangeInput, classifyChange } from '../../src/streams/classify-change.ts'
import { type BootimageSketch, makeBootimage } from '../fakes/bootimages.ts'

const june = '43.20260601.3.0'
const july = '44.20260707.3.1'
const august = '44.20260803.3.0'

function classify(input: Partial<ChangeInput>): ChangeClass {
  return classifyChange({ sameDocument: false, history: [], wasReady: () => true, ...input })
}

function image(release: string, sketch: BootimageSketch = {}): Bootimage {
  return makeBootimage({ release, ...sketch })
}

describe('classifyChange', () => {
  it('the first document is the first, whatever it says', () => {
    expect(classify({ offered: image(june) })).toBe('first')
  })

  it('the same document again is unchanged', () => {
    expect(classify({ accepted: image(july), offered: image(july), sameDocument: true })).toBe('unchanged')
  })

  it('the same bootimage in another document is regenerated, even from other locations', () => {
    const moved = {
      ...image(july),
      kernel: { ...image(july).kernel, location: 'https://elsewhere.example/k' },
    }
    expect(classify({ accepted: image(july), offered: moved, history: [image(july)] })).toBe('regenerated')
  })

  it('G9 a higher release is advanced', () => {
    expect(classify({ accepted: image(july), offered: image(august), history: [image(july)] })).toBe(
      'advanced',
    )
  })

  it('G9 a lower release is rolled back', () => {
    expect(classify({ accepted: image(july), offered: image(june) })).toBe('rolled-back')
  })

  it('G9 a release that the stream had before is rolled back, even when its number is higher', () => {
    const history = [image(june), image(july), image(august)]
    expect(classify({ accepted: image(june), offered: image(august), history })).toBe('rolled-back')
  })

  it.each([
    ['the style change of 4.19', '418.94.202501221327-0', '9.6.20250121-0', 'advanced'],
    ['back over the style change', '9.6.20250121-0', '418.94.202501221327-0', 'rolled-back'],
    ['4.10 after 4.1', '410.8.20190520.0', '410.84.202210040010-0', 'advanced'],
    ['4.1 after 4.10', '410.84.202210040010-0', '410.8.20190520.0', 'rolled-back'],
    ['an earlier date under a higher major', '34.20211031.3.0', '35.20211029.3.0', 'advanced'],
    [
      'a cluster update to a minor that was built earlier',
      '416.94.202501270445-0',
      '418.94.202501221327-0',
      'advanced',
    ],
    ['another stream code', '44.20260707.3.1', '44.20260720.2.1', 'advanced'],
    ['an unknown style', '44.20260707.3.1', 'nightly', 'advanced'],
  ])('G9 %s: %s to %s is %s', (_, from, to, expected) => {
    expect(classify({ accepted: image(from), offered: image(to), history: [image(from)] })).toBe(expected)
  })

  it('G9 incomparable releases are rolled back when the stream had that one', () => {
    const history = [image('nightly'), image(july)]
    expect(classify({ accepted: image(july), offered: image('nightly'), history })).toBe('rolled-back')
  })

  it('G8 the same release with other digests is republished', () => {
    const again = image(july, { edition: 'again' })
    expect(classify({ accepted: image(july), offered: again, history: [image(july)] })).toBe('republished')
  })

  it('G8 an earlier release with other digests is republished, not rolled back', () => {
    const again = image(june, { edition: 'again' })
    const history = [image(june), image(july)]
    expect(classify({ accepted: image(july), offered: again, history })).toBe('republished')
  })

  it('G8 a republication that an admin accepted is known; going back to it later is rolled back', () => {
    const history = [image(june), image(june, { edition: 'again' }), image(july)]
    expect(classify({ accepted: image(july), offered: image(june, { edition: 'again' }), history })).toBe(
      'rolled-back',
    )
    expect(classify({ accepted: image(july), offered: image(june), history })).toBe('rolled-back')
    const current = image(june, { edition: 'again' })
    expect(classify({ accepted: current, offered: image(june), history })).toBe('republished')
  })

  it('G8 a release of which nothing was ever verified is corrected by other digests, now and earlier', () => {
    const again = image(july, { edition: 'again' })
    const wasReady = (past: Bootimage) => past.release === june
    const history = [image(june), image(july)]
    expect(classify({ accepted: image(july), offered: again, history, wasReady })).toBe('corrected')
    const flipped = { accepted: again, offered: image(july), history: [...history, again], wasReady }
    expect(classify(flipped)).toBe('corrected')
    const earlier = { accepted: image(august), offered: again, history, wasReady }
    expect(classify(earlier)).toBe('rolled-back')
  })

  it('G8 a release of which another publication was verified is republished, although the last one never was', () => {
    const [first, second, third] = ['1', '2', '3'].map((edition) => image(july, { edition }))
    const history = [first, second].filter((past) => past !== undefined)
    const wasReady = (past: Bootimage) => past === first
    expect(classify({ accepted: second, offered: third, history, wasReady })).toBe('republished')
    expect(classify({ accepted: second, offered: first, history, wasReady })).toBe('corrected')
  })

  it('an architecture that is gone is withdrawn, one that is broken is partial', () => {
    const problem = { arch: 'x86_64', field: 'architectures.x86_64', message: 'found 7' } as const
    expect(classify({ accepted: image(july) })).toBe('withdrawn')
    expect(classify({ accepted: image(july), problem })).toBe('partial')
    expect(classify({ problem })).toBe('partial')
    expect(classify({})).toBe('withdrawn')
  })

  it('G3 a newer release that lost its rootfs or its live set is partial', () => {
    const { rootfs: _, ...withoutRootfs } = image(august)
    expect(classify({ accepted: image(july), offered: withoutRootfs })).toBe('partial')
    expect(classify({ accepted: image(july), offered: image(august, { kind: 'legacy-installer' }) })).toBe(
      'partial',
    )
  })

  it('going back to the time before rootfs is going back, and gaining one is going on', () => {
    const { rootfs: _, ...early } = image('31.20200108.3.0')
    expect(classify({ accepted: image(july), offered: early })).toBe('rolled-back')
    expect(classify({ accepted: early, offered: image(july) })).toBe('advanced')
    const installer = image('30.20190715.0', { kind: 'legacy-installer' })
    expect(classify({ accepted: installer, offered: early })).toBe('advanced')
  })
})
