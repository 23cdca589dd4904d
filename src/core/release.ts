/**
 * Version strings of the CoreOS family, as metadata spells them.
 *
 * | style    | pattern                                | examples                                             |
 * | -------- | -------------------------------------- | ---------------------------------------------------- |
 * | `fedora` | `X.YYYYMMDD[.stream code].revision`    | `30.20190715.0`, `44.20260707.3.1`                   |
 * | `ocp`    | `4<minor>.<rhel digits>.<stamp>[.-]N`  | `43.82.202008010953.0`, `416.94.202501270445-0`      |
 * | `rhel`   | `<major>.<minor>.YYYYMMDD-N`           | `9.6.20251212-1`, SCOS `10.0.20251103-0`             |
 */
export type Release = FedoraRelease | OcpRelease | RhelRelease

export interface RhelVersion {
  readonly major: number
  /** RHCOS 4.1 (`410.8.…`) and OKD's SCOS say the major alone. */
  readonly minor?: number
}

interface FedoraRelease {
  readonly style: 'fedora'
  readonly major: number
  /** `YYYYMMDD` */
  readonly day: string
  /** 1 next, 2 testing, 3 stable, …; absent before 2019-12; `dev` for developer builds. */
  readonly streamCode?: number | 'dev'
  readonly revision: number
}

interface StampedRelease {
  /** `YYYYMMDD` */
  readonly day: string
  /** `YYYYMMDDHHMM`; midnight where only the day is known. */
  readonly stamp: string
  readonly build: number
  readonly rhel: RhelVersion
}

interface OcpRelease extends StampedRelease {
  readonly style: 'ocp'
  /** The x of OpenShift 4.x. */
  readonly ocpMinor: number
  /** Letters that follow the OpenShift digits: `s390x`, `devel`. */
  readonly branch?: string
}

interface RhelRelease extends StampedRelease {
  readonly style: 'rhel'
}

const fedoraPattern = /^(\d{2,3})\.(\d{8})(?:\.(\d{1,4}|dev))?\.(\d{1,6})$/
const stampedPattern = /^(\d{1,3})([a-z][a-z0-9]{0,15})?\.(\d{1,3})\.(\d{12}|\d{8})[.-](\d{1,6})$/

/** RHEL majors are below this, OpenShift prefixes (`41` and up) above it. */
const highestRhelMajor = 30

/** `undefined` for a version of no known style; such a release is served all the same, only never compared. */
export function parseRelease(text: string): Release | undefined {
  return parseFedora(text) ?? parseStamped(text)
}

function parseFedora(text: string): FedoraRelease | undefined {
  const [, major, day, code, revision] = fedoraPattern.exec(text) ?? []
  if (major === undefined || day === undefined || revision === undefined) return undefined
  return {
    style: 'fedora',
    major: Number(major),
    day,
    ...(code === undefined ? {} : { streamCode: code === 'dev' ? 'dev' : Number(code) }),
    revision: Number(revision),
  }
}

function parseStamped(text: string): OcpRelease | RhelRelease | undefined {
  const [, prefix, branch, second, digits, build] = stampedPattern.exec(text) ?? []
  if (prefix === undefined || second === undefined || digits === undefined || build === undefined)
    return undefined
  const when = { day: digits.slice(0, 8), stamp: digits.padEnd(12, '0'), build: Number(build) }
  const isDayOnly = digits.length === 8
  if (branch === undefined && isDayOnly && Number(prefix) <= highestRhelMajor)
    return { style: 'rhel', ...when, rhel: { major: Number(prefix), minor: Number(second) } }
  if (!/^4\d{1,2}$/.test(prefix)) return undefined
  return {
    style: 'ocp',
    ...when,
    // 4.1 wrote itself as 410 and early 4.2 as 420, with RHEL's major alone and a day instead of a time;
    // 4.10 is 410 too, with two RHEL digits (`410.84.202210040010-0`).
    ocpMinor: Number(isDayOnly && second.length === 1 ? prefix.slice(1, 2) : prefix.slice(1)),
    rhel: rhelFromDigits(second),
    ...(branch === undefined ? {} : { branch }),
  }
}

/** `94` is 9.4 and `810` is 8.10. */
function rhelFromDigits(digits: string): RhelVersion {
  const major = Number(digits.slice(0, 1))
  return digits.length === 1 ? { major } : { major, minor: Number(digits.slice(1)) }
}

export type ReleaseOrder = -1 | 0 | 1 | 'incomparable'

/**
 * Which of two releases is the higher one. Only good for naming a change: what a stream's document says now is its
 * newest, whatever its number (G9).
 *
 * - `fedora`: the parts as numbers, left to right; nothing across stream codes, nor for developer builds.
 * - `ocp` and `rhel`: time stamp, then build number. Lines that are published side by side (4.16 and 4.17, RHEL 9.6
 *   and 9.8) are ordered only where line and time stamp agree: 416.94 of January is not above 418.94 of December.
 * - style change at 4.19: every `ocp` release is below every `rhel` release, or 418 would beat 9.6.
 */
export function compareReleases(a: string, b: string): ReleaseOrder {
  if (a === b) return 0
  const left = parseRelease(a)
  const right = parseRelease(b)
  if (left === undefined || right === undefined) return 'incomparable'
  if (left.style === 'fedora' && right.style === 'fedora') return compareFedora(left, right)
  if (left.style === 'fedora' || right.style === 'fedora') return 'incomparable'
  if (left.style !== right.style) return left.style === 'ocp' ? -1 : 1
  return compareStamped(left, right)
}

function compareFedora(a: FedoraRelease, b: FedoraRelease): ReleaseOrder {
  const byAge = compareInTurn([a.major, b.major], [Number(a.day), Number(b.day)])
  if (a.streamCode === b.streamCode) return byAge || compareInTurn([a.revision, b.revision])
  const isDeveloperBuild = a.streamCode === 'dev' || b.streamCode === 'dev'
  const areDifferentStreams = a.streamCode !== undefined && b.streamCode !== undefined
  if (isDeveloperBuild || areDifferentStreams) return 'incomparable'
  // One of them is from before stream codes: the day still orders them.
  return byAge === 0 ? 'incomparable' : byAge
}

function compareStamped(a: OcpRelease | RhelRelease, b: OcpRelease | RhelRelease): ReleaseOrder {
  if (branchOf(a) !== branchOf(b)) return 'incomparable'
  const byLine = compareInTurn(...linePairs(a, b))
  const byTime = compareInTurn([Number(a.stamp), Number(b.stamp)])
  if (byLine === 0) return byTime || compareInTurn([a.build, b.build])
  return byTime === 0 || byTime === byLine ? byLine : 'incomparable'
}

function branchOf(release: OcpRelease | RhelRelease): string | undefined {
  return release.style === 'ocp' ? release.branch : undefined
}

function linePairs(a: OcpRelease | RhelRelease, b: OcpRelease | RhelRelease): [number, number][] {
  if (a.style === 'ocp' && b.style === 'ocp') return [[a.ocpMinor, b.ocpMinor]]
  return [
    [a.rhel.major, b.rhel.major],
    [a.rhel.minor ?? 0, b.rhel.minor ?? 0],
  ]
}

function compareInTurn(...pairs: [number, number][]): -1 | 0 | 1 {
  for (const [a, b] of pairs) if (a !== b) return a < b ? -1 : 1
  return 0
}

/**
 * The RHEL version a RHCOS or SCOS release is built from, for the skew between boot image and cluster;
 * `undefined` for Fedora and for unknown styles. (OpenShift's own check goes by the length of the time stamp alone
 * and would call `42.80.20191002.0` RHEL 42.80; such versions cannot be entered there.)
 */
export function rhelVersion(text: string): RhelVersion | undefined {
  const release = parseRelease(text)
  return release === undefined || release.style === 'fedora' ? undefined : release.rhel
}
