import type { Arch } from '../arch.ts'
import type { BootPhase, PhaseSpan } from '../boot-attempt.ts'
import type { DecisionKind } from '../boot-decision.ts'
import type { BootEvent, BootId, DhcpQuestion } from '../boot-event.ts'
import type { Firmware, Loader } from '../client.ts'
import type { FileRole } from './file-role.ts'
import type { Journey } from './journey.ts'

/** What all events of an attempt come to; everything that is told of it is made from this. Times never go backwards. */
export interface AttemptFacts {
  readonly startedAt: number
  /** Its last sign of life. */
  readonly lastAt: number
  readonly journey: Readonly<Journey>
  readonly bootIds: readonly BootId[]
  readonly uuid?: string
  readonly serial?: string
  readonly address?: string
  readonly arch?: Arch
  readonly firmware?: Firmware
  readonly loader?: Loader
  readonly phase: BootPhase
  readonly spans: readonly PhaseSpan[]
  /** The longest that it was silent in each phase, ms. */
  readonly silences: PhaseSilences
  /** The last DHCP run of its firmware. */
  readonly run?: DhcpRun
  /** DHCP saw it ask for the same stage in boot after boot. */
  readonly isLoopTold: boolean
  /** Nothing of it was seen but its decisions. */
  readonly isOnlyDecided: boolean
  /** How often it was told what to do. */
  readonly decisions: number
  /** When a loader asked DHCP, which shows that it runs. */
  readonly loaderAskedAt?: number
  readonly decision?: Extract<BootEvent, { type: 'decided' }>
  /** Of the first script or decision. */
  readonly scriptAt?: number
  /** Of the last decision's boot; the loader's are of all. */
  readonly files: ReadonlyMap<FileRole, FileFacts>
  /** When everything was there that its script makes it fetch. */
  readonly servedAt?: number
  readonly ignitionAt?: number
  readonly ignitionRefusal?: { readonly at: number; readonly refusal: string }
  readonly report?: Extract<BootEvent, { type: 'reported' }>
}

export type PhaseSilences = Readonly<Partial<Record<BootPhase, number>>>

export interface DhcpRun {
  readonly via: DhcpQuestion['via']
  readonly xid: number
  readonly role?: 'proxy' | 'boot-server' | 'server'
  readonly target?: string
  readonly decision?: DecisionKind
  readonly startedAt: number
  readonly lastAt: number
  /** DISCOVERs of this run that got our offer. */
  readonly offers: number
  /** The same of all runs of this boot. */
  readonly asked: number
  /** REQUESTs that we acknowledged, on 67 or 4011. */
  readonly acknowledged: number
  /** On 4011, for the boot server of type 0. */
  readonly askedTypeZero: number
  /** The server whose offer it took instead, and what it got there. */
  readonly chosen?: string
  readonly chosenAt?: number
}

export interface FileFacts {
  readonly role: FileRole
  readonly name?: string
  readonly startedAt: number
  readonly lastAt: number
  readonly heads: number
  readonly firstHeadAt?: number
  readonly lastHeadAt?: number
  /** Times that it went out whole. */
  readonly wholes: number
  /** Of those, the most with one and the same name: a shim that fetches its GRUB is no repetition. */
  readonly repeats: number
  readonly wholeAt?: number
  /** Transfers that ended early since it was last whole. */
  readonly cuts: number
  readonly cutAt?: number
  /** A transfer began and has not ended. */
  readonly isOpen: boolean
  readonly reachedBytes: number
  readonly totalBytes?: number
  /** Where it was some seconds before. */
  readonly before?: { readonly at: number; readonly bytes: number }
  readonly loaderArch?: Arch
  readonly clientError?: string
}
