import type { AttemptOutcome, AttemptState } from '../../core/boot-attempt.ts'
import type { DecisionKind } from '../../core/boot-decision.ts'
import type { BootPatternCode } from '../../core/boot-pattern.ts'
import type { MachineState } from '../../http/admin/schemas/boots.ts'

const statesByOutcome: Readonly<Record<AttemptOutcome, MachineState>> = {
  booted: 'booted',
  installed: 'installed',
  failed: 'failed',
  served: 'served',
  local: 'local',
  held: 'held',
  // It went silent on the way, and nothing came after it.
  lost: 'failed',
  // The boot that took its place is not known any more.
  superseded: 'idle',
}

/** The state of a machine whose last boot this is. */
export function machineStateOf({
  state,
  outcome,
  kind,
  isTroubled,
}: {
  readonly state: AttemptState
  readonly outcome: AttemptOutcome | undefined
  /** Of its last decision. */
  readonly kind: DecisionKind | undefined
  /** Something is known to be wrong with it. */
  readonly isTroubled: boolean
}): MachineState {
  // Too little was seen of it to say that it failed.
  if (outcome === 'lost' && !isTroubled) return 'idle'
  if (state === 'over') return outcome === undefined ? 'idle' : statesByOutcome[outcome]
  if (kind === 'hold') return 'held'
  return state
}

const needyStates: ReadonlySet<MachineState> = new Set(['stuck', 'failed', 'held'])

/** Whether it waits for a person: by its state, or by what is wrong with its last boot, though that is over. */
export function needsPerson(state: MachineState, pattern: BootPatternCode | undefined): boolean {
  return pattern !== undefined || needyStates.has(state)
}
