import type { Arch } from './arch.ts'
import type { Bootimage } from './bootimage.ts'
import type { ExtraInitrd, Host, IgnitionSource, LocalBootMethod, Origin, Pin } from './host.ts'
import type { Reason } from './reason.ts'

/** A value with the place it came from, for `explain`, the API and the page. */
export interface Effective<T> {
  readonly value: T
  readonly origin: Origin
}

/** What every decision says, whatever its kind. `reasons[0]` decided; the rest tell how we got there. */
interface DecisionBase {
  readonly reasons: readonly [Reason, ...Reason[]]
  /** The matched host; absent for an unknown machine. */
  readonly host?: Host
  readonly arch?: Arch
  readonly pin?: Effective<Pin>
}

/** What a live or installing machine gets besides the bootimage itself. */
export interface BootParameters {
  readonly kernelArguments: readonly string[]
  readonly ignition?: IgnitionSource
  readonly report?: boolean
  readonly platformId: string
  readonly rootfs: 'url' | 'initrd'
  readonly extraInitrds: readonly ExtraInitrd[]
}

export type BootDecision =
  | (DecisionBase & { readonly kind: 'ignore' })
  | (DecisionBase & { readonly kind: 'local'; readonly method: LocalBootMethod })
  | (DecisionBase & { readonly kind: 'chainload'; readonly loader: string })
  | (DecisionBase & {
      readonly kind: 'live'
      readonly bootimage: Bootimage
      readonly parameters: BootParameters
    })
  | (DecisionBase & {
      readonly kind: 'install'
      readonly bootimage: Bootimage
      readonly parameters: BootParameters
      readonly device: string
      /** Number of the arming. */
      readonly generation: number
    })
  /** Being fetched, or a pin that cannot be satisfied yet: the node retries without end. */
  | (DecisionBase & { readonly kind: 'wait'; readonly wanted: WantedBootimage })
  /** Refused: the node shows why for ten minutes, then leaves network boot by `method`. */
  | (DecisionBase & { readonly kind: 'hold'; readonly method: LocalBootMethod })

export type DecisionKind = BootDecision['kind']

/** What a waiting node waits for; `release` is absent when the stream has never been read. */
export interface WantedBootimage {
  readonly stream: string
  readonly arch: Arch
  readonly release?: string
}
