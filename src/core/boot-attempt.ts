import type { Arch } from './arch.ts'
import type { DecisionKind } from './boot-decision.ts'
import type { BootEvent, BootId } from './boot-event.ts'
import type { BootPatternCode } from './boot-pattern.ts'
import type { BootimageId } from './bootimage.ts'
import type { Firmware, Loader } from './client.ts'
import type { MacAddress } from './mac.ts'
import type { Reason } from './reason.ts'

/**
 * One boot of one machine, from its first packet to its outcome: what its events come to. Times are ms since the
 * epoch.
 */
export interface BootAttempt {
  readonly id: AttemptId
  /** Of every answer that decided something for it, oldest first; a machine that asks again gets another one. */
  readonly bootIds: readonly BootId[]
  readonly host?: string
  /** The card that boots: of its last decision, and before there is one the card that was heard last. */
  readonly mac?: MacAddress
  /** Other cards of the same machine that tried in this boot. */
  readonly otherMacs?: readonly MacAddress[]
  readonly uuid?: string
  readonly serial?: string
  /** IP address that it was seen with last. */
  readonly address?: string
  readonly arch?: Arch
  readonly firmware?: Firmware
  readonly loader?: Loader
  readonly startedAt: number
  /** Its last sign of life. */
  readonly lastAt: number
  readonly state: AttemptState
  /** Of one that is over. */
  readonly outcome?: AttemptOutcome
  readonly endedAt?: number
  /** Where it is, or how far it came. */
  readonly phase: BootPhase
  readonly phases: readonly PhaseSpan[]
  /** Oldest first; what was repeated is one step with a count. */
  readonly steps: readonly AttemptStep[]
  /** Steps that were too many to be kept. */
  readonly leftOut: number
  readonly transfer?: TransferProgress
  readonly decision?: {
    readonly kind: DecisionKind
    readonly reasons: readonly Reason[]
    readonly bootimage?: BootimageId
  }
  /** OS version that it reported. */
  readonly osVersion?: string
  /** What is wrong with it, as far as it is known. */
  readonly diagnosis?: Diagnosis
}

declare const attemptIdBrand: unique symbol
/**
 * Names one boot attempt, also one that never got a boot id: its start in ms as 9 characters of base 36, and 6 random
 * ones. They sort by time.
 */
export type AttemptId = string & { readonly [attemptIdBrand]: true }

/** What a boot goes through, in this order; it may leave some out. `system`: from the last file to the report. */
export const bootPhases = [
  'dhcp',
  'loader',
  'script',
  'kernel',
  'initramfs',
  'rootfs',
  'ignition',
  'system',
] as const
export type BootPhase = (typeof bootPhases)[number]

/** `waiting`: it was told to wait, and asks again. `stuck`: its next step is overdue. */
export const attemptStates = ['running', 'waiting', 'stuck', 'over'] as const
export type AttemptState = (typeof attemptStates)[number]

/**
 * `booted`, `installed`, `failed`: as the machine reported. `served`: it has all its files, and nothing of it reports.
 * `local`: sent to its own disk. `held`: refused. `superseded`: it began anew before this one was over. `lost`: silent
 * for too long.
 */
export const attemptOutcomes = [
  'booted',
  'installed',
  'failed',
  'served',
  'local',
  'held',
  'superseded',
  'lost',
] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

export interface PhaseSpan {
  readonly phase: BootPhase
  readonly startedAt: number
  /** Absent: it goes on. */
  readonly endedAt?: number
  /** Of one that goes on: the next step is overdue after so long without a sign of life. */
  readonly limitMs?: number
}

export interface AttemptStep {
  readonly at: number
  /** Of the last repetition. */
  readonly lastAt: number
  readonly count: number
  readonly phase: BootPhase
  readonly type: BootEvent['type']
  /** One sentence, plain text without control characters, at most 300 characters. */
  readonly text: string
  readonly tone: 'normal' | 'good' | 'bad'
}

export interface TransferProgress {
  readonly role: string
  readonly name?: string
  readonly sentBytes: number
  readonly totalBytes: number
  readonly bytesPerSecond?: number
  readonly isDone: boolean
}

export interface Diagnosis {
  /** `overdue`: no pattern fits, but the next step does not come. */
  readonly code: BootPatternCode
  /** What was seen, with this machine's own facts. */
  readonly text: string
  /** What to do. */
  readonly remedy: string
  /** Since when. */
  readonly at: number
}

/** What is kept of an attempt: its events, from which everything else can be made again. */
export interface AttemptRecord {
  readonly id: AttemptId
  readonly host?: string
  readonly mac?: MacAddress
  /** As in `BootAttempt`; absent when there are none. */
  readonly otherMacs?: readonly MacAddress[]
  /** Of its last decision. */
  readonly bootId?: BootId
  readonly startedAt: number
  readonly lastAt: number
  readonly outcome?: AttemptOutcome
  readonly endedAt?: number
  readonly diagnosis?: Diagnosis
  /** Bounded; repetitions are counted in place. */
  readonly events: readonly CountedEvent[]
  readonly leftOut: number
  /**
   * Only what a list tells of it is here: its last decision, report and step. The others are in the store, and what
   * came since is joined to them when this is saved.
   */
  readonly isHead?: boolean
}

/** An event, and how often it came again. */
export interface CountedEvent {
  readonly event: BootEvent
  readonly count: number
  readonly lastAt: number
}
