import { describe, expect, it } from 'vitest'
import { locationsOf, signatureLocationsOf } from '../../src/artifacts/locations.ts'
import type { Sha256 } from '../../src/core/digest.ts'

const sha256 = 'ab'.repeat(32) as Sha256
const location = 'https://builds.example/prod/streams/stable/builds/44.1/x86_64/live-kernel.x86_64'
const artifact = { location, name: 'live-kernel.x86_64', sha256 }

function urls(mirrors: readonly string[], wanted = artifact): readonly string[] {
  return locationsOf(wanted, mirrors).map(({ url }) => url)
}

describe('locationsOf', () => {
  it('without mirrors is the document’s location alone', () => {
    expect(locationsOf(artifact, [])).toEqual([{ url: location, kind: 'upstream' }])
  })

  it('tries the usual layouts below a mirror, and upstream last', () => {
    expect(urls(['http://mirror.example/fcos'])).toEqual([
      'http://mirror.example/fcos/prod/streams/stable/builds/44.1/x86_64/live-kernel.x86_64',
      'http://mirror.example/fcos/44.1/x86_64/live-kernel.x86_64',
      'http://mirror.example/fcos/live-kernel.x86_64',
      `http://mirror.example/fcos/artifacts/${sha256}/live-kernel.x86_64`,
      `http://mirror.example/fcos/sha256/${sha256}`,
      location,
    ])
  })

  it('keeps the order of the mirrors, and what is percent-encoded stays so', () => {
    const spaced = { ...artifact, location: 'https://builds.example/a%20b/k%2Bx' }
    expect(urls(['http://one.example/', 'http://two.example/'], spaced)).toEqual([
      'http://one.example/a%20b/k%2Bx',
      'http://one.example/k%2Bx',
      `http://one.example/artifacts/${sha256}/k%2Bx`,
      `http://one.example/sha256/${sha256}`,
      'http://two.example/a%20b/k%2Bx',
      'http://two.example/k%2Bx',
      `http://two.example/artifacts/${sha256}/k%2Bx`,
      `http://two.example/sha256/${sha256}`,
      spaced.location,
    ])
  })

  it.each([
    ['http://m.example/{path}', `http://m.example/prod/streams/stable/builds/44.1/x86_64/live-kernel.x86_64`],
    ['http://m.example/artifacts/{sha256}/{name}', `http://m.example/artifacts/${sha256}/live-kernel.x86_64`],
    ['http://m.example/%7Bsha256%7D/%7Bname%7D/', `http://m.example/${sha256}/live-kernel.x86_64`],
    ['http://m.example/%7Bname%7D?token=1', 'http://m.example/live-kernel.x86_64?token=1'],
  ])('takes %s as it is', (mirror, url) => {
    expect(urls([mirror])).toEqual([url, location])
  })

  it('does not ask a location twice', () => {
    expect(urls(['https://builds.example/', 'https://builds.example'])).toEqual([
      'https://builds.example/44.1/x86_64/live-kernel.x86_64',
      'https://builds.example/live-kernel.x86_64',
      `https://builds.example/artifacts/${sha256}/live-kernel.x86_64`,
      `https://builds.example/sha256/${sha256}`,
      location,
    ])
  })

  it('passes over a mirror that is not a URL', () => {
    expect(urls(['mirror', '{name}'])).toEqual([location])
  })

  it('a directory may be a mirror of files', () => {
    expect(urls(['file:///srv/mirror/'])).toContain('file:///srv/mirror/live-kernel.x86_64')
  })
})

describe('signatureLocationsOf', () => {
  it('follows the document’s own location of the signature', () => {
    const signature = 'https://builds.example/prod/sigs/live-kernel.x86_64.sig'
    expect(
      signatureLocationsOf({ ...artifact, signature }, ['http://m.example/']).map(({ url }) => url),
    ).toEqual([
      'http://m.example/prod/sigs/live-kernel.x86_64.sig',
      'http://m.example/live-kernel.x86_64.sig',
      `http://m.example/artifacts/${sha256}/live-kernel.x86_64.sig`,
      `http://m.example/sha256/${sha256}.sig`,
      signature,
    ])
  })

  it('is nothing when the document names no signature', () => {
    expect(signatureLocationsOf(artifact, ['http://m.example/'])).toEqual([])
  })
})
