import type { Diagnosis } from '../boot-attempt.ts'
import type { AttemptFacts } from '../boot-attempts/attempt-facts.ts'
import { type Reached, reached } from '../boot-attempts/journey.ts'
import type { BootPatternInfo } from '../boot-pattern.ts'
import { rootfsCutOff, rootfsOnlyLookedAt, silentAfterKernel } from './file-patterns.ts'
import { loaderLoop, loaderOfWrongArchitecture, scriptNotFetched } from './loader-patterns.ts'
import {
  bootServerTypeZero,
  httpClientWithoutUrl,
  offerNotFollowed,
  offersNotMerged,
} from './offer-patterns.ts'
import type { BootPattern, PatternContext } from './pattern.ts'
import { returnsAlthoughLocal } from './returns-although-local.ts'
import { ignitionNotFetched, noReport, overdue, reportsAnotherRelease } from './system-patterns.ts'

/** Every pattern; where several fit, the first one says most. */
export const bootPatterns: readonly BootPattern[] = [
  bootServerTypeZero,
  httpClientWithoutUrl,
  offersNotMerged,
  offerNotFollowed,
  loaderOfWrongArchitecture,
  loaderLoop,
  scriptNotFetched,
  silentAfterKernel,
  rootfsOnlyLookedAt,
  rootfsCutOff,
  ignitionNotFetched,
  reportsAnotherRelease,
  noReport,
  returnsAlthoughLocal,
  overdue,
]

/** The table for people, in the order of a boot. */
export const bootPatternInfos: readonly BootPatternInfo[] = bootPatterns.map(({ info }) => info)

/** What is wrong with a boot, as far as its events show it; `undefined` for one that goes as it should. */
export function recognise(facts: AttemptFacts, context: PatternContext): Diagnosis | undefined {
  for (const { info, match } of bootPatterns) {
    const found = match(facts, context)
    if (found === undefined) continue
    return { code: info.code, text: found.text, remedy: found.remedy ?? info.remedy, at: found.at }
  }
  return undefined
}

/**
 * Times without a sign of life at which a pattern may show itself before the limit of its phase, ms, ascending: for
 * boots that came this far.
 */
export function looksAfterMs(level: Reached): readonly number[] {
  if (level === reached.nothing) return looksAtOffers
  return level === reached.loader ? looksAtLoaders : looksAtFiles
}

const looksAtOffers = [35_000, 45_000]
const looksAtLoaders = [10_000]
const looksAtFiles = [5_000, 10_000, 30_000]
