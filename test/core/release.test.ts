import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareReleases, parseRelease, type ReleaseOrder, rhelVersion } from '../../src/core/release.ts'

describe('parseRelease', () => {
  it.each([
    ['30.20190715.0', { style: 'fedora', major: 30, day: '20190715', revision: 0 }],
    ['44.20260707.3.1', { style: 'fedora', major: 44, day: '20260707', streamCode: 3, revision: 1 }],
    ['31.20200310.20.0', { style: 'fedora', major: 31, day: '20200310', streamCode: 20, revision: 0 }],
    ['31.20191018.dev.2', { style: 'fedora', major: 31, day: '20191018', streamCode: 'dev', revision: 2 }],
    ['410.8.20190520.0', ocp(1, { major: 8 }, '201905200000', 0)],
    ['420.8.20190624.0', ocp(2, { major: 8 }, '201906240000', 0)],
    ['42.80.20191002.0', ocp(2, { major: 8, minor: 0 }, '201910020000', 0)],
    ['43.80.20191002.1', ocp(3, { major: 8, minor: 0 }, '201910020000', 1)],
    ['43.82.202008010953.0', ocp(3, { major: 8, minor: 2 }, '202008010953', 0)],
    ['45.82.202006240257-0', ocp(5, { major: 8, minor: 2 }, '202006240257', 0)],
    ['410.84.202210040010-0', ocp(10, { major: 8, minor: 4 }, '202210040010', 0)],
    ['412.810.202402272018-0', ocp(12, { major: 8, minor: 10 }, '202402272018', 0)],
    ['413.9.202302130811-0', ocp(13, { major: 9 }, '202302130811', 0)],
    ['418.94.202501221327-0', ocp(18, { major: 9, minor: 4 }, '202501221327', 0)],
    ['42s390x.81.20191224.0', ocp(2, { major: 8, minor: 1 }, '201912240000', 0, 's390x')],
    ['44devel.81.202001151926.0', ocp(4, { major: 8, minor: 1 }, '202001151926', 0, 'devel')],
    ['9.6.20251212-1', rhel(9, 6, '202512120000', 1)],
    ['10.2.20260423-0', rhel(10, 2, '202604230000', 0)],
    ['10.0.20251103-0', rhel(10, 0, '202511030000', 0)],
  ])('reads %s', (text, expected) => {
    expect(parseRelease(text)).toEqual(expected)
  })

  it.each([
    '',
    '44',
    '44.20260707',
    'latest',
    '44.2026070.3.1',
    '9.6.202512120000-1',
    '51.98.202601010000-0',
  ])('does not know %j', (text) => {
    expect(parseRelease(text)).toBeUndefined()
  })
})

describe('compareReleases', () => {
  it.each<[string, string, ReleaseOrder, string]>([
    // Fedora: parts as numbers, left to right
    ['44.20260707.3.1', '44.20260707.3.1', 0, 'the same text'],
    ['44.20260707.3.0', '44.20260707.3.1', -1, 'revision'],
    ['44.20260707.3.9', '44.20260707.3.10', -1, 'revision as a number'],
    ['44.20260623.3.0', '44.20260707.3.0', -1, 'date'],
    ['34.20211031.3.0', '35.20211029.3.0', -1, 'the major stands above the date'],
    ['9.20190101.0', '30.20190715.0', 'incomparable', 'no Fedora major has one digit'],
    ['30.20190715.0', '30.20190801.0', -1, 'three parts'],
    ['30.20190715.0', '30.20190715.1', -1, 'three parts, revision'],
    ['30.20191014.0', '31.20191210.2.0', -1, 'three parts before four'],
    ['30.20191014.0', '30.20191014.2.0', 'incomparable', 'three parts and four on one day'],
    ['44.20260707.3.1', '44.20260720.2.1', 'incomparable', 'two streams'],
    ['31.20191018.dev.2', '31.20191018.dev.3', -1, 'developer builds among themselves'],
    ['31.20191018.dev.2', '31.20191019.0', 'incomparable', 'a developer build and a release'],
    // RHCOS
    ['416.94.202501270445-0', '416.94.202501270445-1', -1, 'build number'],
    ['416.94.202412170927-0', '416.94.202501270445-0', -1, 'time stamp'],
    ['43.80.20191002.1', '43.82.202008010953.0', -1, 'a day and a minute'],
    ['47.83.202102091015-0', '48.83.202103221318-0', -1, 'OpenShift minors, times agree'],
    ['416.94.202501270445-0', '418.94.202501221327-0', 'incomparable', 'minors side by side, times disagree'],
    ['417.94.202501221327-0', '418.94.202501221327-0', -1, 'minors built in one minute'],
    ['410.8.20190520.0', '410.84.202210040010-0', -1, '4.1 and 4.10 share the digits 410'],
    ['410.8.20190520.0', '42.80.20191002.0', -1, '4.1 is below 4.2 although 410 is above 42'],
    ['420.8.20190624.0', '43.82.202008010953.0', -1, '4.2 is below 4.3 although 420 is above 43'],
    ['49.84.202207192205-0', '410.84.202210040010-0', -1, '4.9 is below 4.10'],
    ['418.94.202501221327-0', '9.6.20250121-0', -1, 'the style change of 4.19, whatever the dates'],
    ['9.6.20250121-0', '9.6.20251212-1', -1, 'RHEL style, date'],
    ['9.6.20251212-0', '9.6.20251212-1', -1, 'RHEL style, build number'],
    ['9.6.20251212-1', '9.8.20260428-0', -1, 'RHEL minors, dates agree'],
    ['9.8.20260428-0', '10.2.20260501-0', -1, '10 is above 9 as a number'],
    ['9.8.20260428-0', '10.2.20260423-0', 'incomparable', 'RHEL majors side by side, dates disagree'],
    ['42s390x.81.20191224.0', '42s390x.81.20200110.0', -1, 'letters in the first part'],
    ['44devel.81.202001151926.0', '44.81.202002151926.0', 'incomparable', 'a branch and the release'],
    // families
    ['44.20260707.3.1', '9.8.20260428-0', 'incomparable', 'Fedora and RHEL'],
    ['418.94.202501221327-0', '44.20260707.3.1', 'incomparable', 'OpenShift and Fedora'],
    ['nightly', '44.20260707.3.1', 'incomparable', 'an unknown style'],
  ])('%s against %s: %s (%s)', (a, b, expected) => {
    expect(compareReleases(a, b)).toBe(expected)
    expect(compareReleases(b, a)).toBe(expected === -1 ? 1 : expected)
  })

  it('is antisymmetric and equal to itself for whatever a document may say', () => {
    const part = fc.oneof(fc.constantFrom('44', '9', '10', '410', '416', '8', '94', 'dev', '3'), fc.string())
    const stamp = fc.constantFrom('20260707', '20190520', '202501270445')
    const text = fc
      .tuple(part, part, stamp, fc.constantFrom('.', '-'), fc.nat(20))
      .map(([first, second, when, dash, build]) => `${first}.${second}.${when}${dash}${build}`)
    fc.assert(
      fc.property(text, text, (a, b) => {
        const order = compareReleases(a, b)
        const opposite = compareReleases(b, a)
        expect(compareReleases(a, a)).toBe(0)
        if (order === 'incomparable') expect(opposite).toBe('incomparable')
        else expect(order + Number(opposite)).toBe(0)
      }),
    )
  })
})

describe('rhelVersion', () => {
  it.each([
    ['416.94.202501270445-0', { major: 9, minor: 4 }],
    ['412.810.202402272018-0', { major: 8, minor: 10 }],
    ['9.6.20251212-1', { major: 9, minor: 6 }],
    ['10.2.20260423-0', { major: 10, minor: 2 }],
    ['42.80.20191002.0', { major: 8, minor: 0 }],
    ['410.8.20190520.0', { major: 8 }],
    ['44.20260707.3.1', undefined],
    ['nightly', undefined],
  ])('of %s', (text, expected) => {
    expect(rhelVersion(text)).toEqual(expected)
  })
})

function ocp(ocpMinor: number, rhel: object, stamp: string, build: number, branch?: string): object {
  return { style: 'ocp', ocpMinor, rhel, day: stamp.slice(0, 8), stamp, build, ...(branch ? { branch } : {}) }
}

function rhel(major: number, minor: number, stamp: string, build: number): object {
  return { style: 'rhel', rhel: { major, minor }, day: stamp.slice(0, 8), stamp, build }
}
