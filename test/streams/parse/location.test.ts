import { describe, expect, it } from 'vitest'
import { isServiceError } from '../../../src/core/errors.ts'
import { documentField } from '../../../src/streams/parse/field.ts'
import { buildLocation, directoryUrl, fileName, location } from '../../../src/streams/parse/location.ts'

const web = 'https://builds.example/prod/'
const local = 'file:///srv/mirror/'

describe('location', () => {
  it.each([
    ['https://builds.example/a/b.img', undefined, 'https://builds.example/a/b.img'],
    ['http://builds.example/a', undefined, 'http://builds.example/a'],
    // verbatim: a URL that `new URL` would write differently stays as the document has it
    ['https://Builds.example:443/a/../b', undefined, 'https://Builds.example:443/a/../b'],
    ['a/b.img', web, 'https://builds.example/prod/a/b.img'],
    ['/a/b.img', web, 'https://builds.example/a/b.img'],
    ['a/b.img', local, 'file:///srv/mirror/a/b.img'],
    ['file:///srv/mirror/a/b.img', local, 'file:///srv/mirror/a/b.img'],
    ['https://builds.example/a', local, 'https://builds.example/a'],
  ])('%s on %s is %s', (written, base, expected) => {
    expect(location(documentField(written), base)).toBe(expected)
  })

  it.each([
    ['relative without a base', 'a/b.img', undefined],
    ['another host by two slashes', '//evil.example/b.img', web],
    ['another scheme', 'ftp://builds.example/b.img', web],
    ['a script', 'javascript:alert(1)', web],
    ['a file named by a document from the network', 'file:///etc/shadow', web],
    ['a file named by a document without a base', 'file:///etc/shadow', undefined],
    ['a file outside the base', 'file:///etc/shadow', local],
    ['a way out of the base', '../../etc/shadow', local],
    ['an encoded way out', '%2e%2e/%2e%2e/etc/shadow', local],
    ['hidden separators', 'a%2f..%2f..%2fetc', local],
    ['the host of a file URL', 'file://evil.example/srv/mirror/a', local],
    ['a base that is none', 'a/b.img', 'nowhere'],
    ['a file below a base that is none', 'file:///etc/shadow', 'nowhere'],
    ['credentials', 'https://user:secret@builds.example/b.img', web],
    ['a space', 'https://builds.example/a b', web],
    ['a tab that a URL parser would drop', 'https://builds.example/a\tb', web],
    ['backslashes', 'https:\\\\builds.example\\b', web],
    ['a control character', 'https://builds.example/\u0007', web],
    ['a bidi override', 'https://builds.example/\u202e', web],
    ['nothing', '', web],
    ['no text', 5, web],
    ['endless text', `https://builds.example/${'a'.repeat(2048)}`, web],
  ])('%s is refused', (_, written, base) => {
    const refusal = caught(() => location({ path: 'a.location', value: written }, base))
    expect(isServiceError(refusal, 'METADATA_INVALID')).toBe(true)
    expect((refusal as Error).message).toMatch(/^a\.location: found .*, expected /)
    expect((refusal as Error).message).not.toContain('secret')
  })
})

describe('a build document names files, not places', () => {
  it('joins the name to the directory as it is', () => {
    expect(buildLocation(documentField('rhcos-4.6+x@1.img'), web)).toBe(`${web}rhcos-4.6+x@1.img`)
  })

  it.each(['../a', 'a/b', 'https://evil.example/a', '..', '.', 'a?b', 'a#b', 'a%2fb', 'a b', '', null])(
    '%j is refused',
    (path) => {
      expect(() => buildLocation(documentField(path), web)).toThrow(/expected a/)
    },
  )

  it('a directory gets the slash that configuration may lack', () => {
    expect(directoryUrl(documentField('https://builds.example/x86_64'), undefined)).toBe(
      'https://builds.example/x86_64/',
    )
    expect(directoryUrl(documentField(web), undefined)).toBe(web)
  })
})

describe('fileName', () => {
  it.each([
    ['https://b.example/x/live-kernel.x86_64', 'live-kernel.x86_64'],
    ['https://b.example/x/live-kernel-x86_64?token=1', 'live-kernel-x86_64'],
    ['https://b.example/a+b_c.img', 'a+b_c.img'],
    ['https://b.example/%2e%2e%2fetc', '-2e-2e-2fetc'],
    ['https://b.example/weiß.img', 'wei-C3-9F.img'],
    ['https://b.example/', 'kernel'],
    ['https://b.example/.hidden', 'kernel'],
    ['https://b.example/---', 'kernel'],
  ])('of %s is %s', (url, expected) => {
    expect(fileName(url, 'kernel')).toBe(expected)
  })

  it('keeps the end of an endless name, where the suffix is', () => {
    const name = fileName(`https://b.example/${'a'.repeat(300)}.img`, 'kernel')
    expect(name).toHaveLength(128)
    expect(name.endsWith('a.img')).toBe(true)
  })
})

function caught(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
