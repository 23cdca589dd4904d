import type { AttemptOutcome } from '../boot-attempt.ts'
import type { AttemptFacts } from '../boot-attempts/attempt-facts.ts'
import type { Reached } from '../boot-attempts/journey.ts'
import type { DecisionKind } from '../boot-decision.ts'
import type { BootPatternInfo } from '../boot-pattern.ts'
import type { MacAddress } from '../mac.ts'

/** One row of the table: how a boot goes wrong, and how it is told from events alone. */
export interface BootPattern {
  readonly info: BootPatternInfo
  /** Cheap, and without side effects; asked again whenever something changed or time has passed. */
  match(facts: AttemptFacts, context: PatternContext): Finding | undefined
}

/** That a boot shows a pattern, with its own facts. */
export interface Finding {
  /** In the past tense: it is told for as long as the boot stands there, and must stay true. */
  readonly text: string
  /** Default: the one of the table. */
  readonly remedy?: string
  /** Since when, ms since the epoch. */
  readonly at: number
}

/** What is known beside the events of the boot itself. */
export interface PatternContext {
  /** Host id, else MAC, else address: for commands that an admin can copy. */
  readonly name: string
  readonly mac?: MacAddress
  /** A record of a host matches it. */
  readonly isKnown: boolean
  readonly isOver: boolean
  /** Since its last sign of life. */
  readonly quietMs: number
  /** How long it may be silent where it is. */
  readonly limitMs: number
  /** Boots of this machine before this one, newest first; a few. */
  readonly before: readonly EarlierBoot[]
  /** A DHCP server beside us that gave another machine its address lately. */
  readonly addressServer?: string
}

/** What patterns need to know of a boot that is over. */
export interface EarlierBoot {
  readonly startedAt: number
  readonly lastAt: number
  readonly outcome: AttemptOutcome | undefined
  readonly level: Reached
  readonly kind: DecisionKind | undefined
  readonly mac: MacAddress | undefined
  readonly via: 'tftp' | 'http' | undefined
  /** Loaders that it fetched whole. */
  readonly loaders: number
}
