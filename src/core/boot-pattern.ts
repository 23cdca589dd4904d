/** Known ways in which a boot goes wrong; each is recognised from events alone (`core/boot-patterns/`). */
export const bootPatternCodes = [
  'offer-not-followed',
  'offers-not-merged',
  'boot-server-type-zero',
  'loader-loop',
  'loader-of-wrong-architecture',
  'http-client-without-url',
  'script-not-fetched',
  'silent-after-kernel',
  'rootfs-only-looked-at',
  'rootfs-cut-off',
  'ignition-not-fetched',
  'reports-another-release',
  'returns-although-local',
  'no-report',
  'overdue',
] as const
export type BootPatternCode = (typeof bootPatternCodes)[number]

/** One row of the table that page, `doctor`, API and README show. */
export interface BootPatternInfo {
  readonly code: BootPatternCode
  /** A few words. */
  readonly title: string
  /** Plain sentence: what it looks like from here. */
  readonly text: string
  /** Plain sentence: what to do. */
  readonly remedy: string
  /** Numbers of the field cases behind it. */
  readonly cases: readonly number[]
}
