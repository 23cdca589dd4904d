import type { AttemptOutcome, BootAttempt } from '../../core/boot-attempt.ts'
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
  decision,
}: Pick<BootAttempt, 'state' | 'outcome' | 'decision'>): MachineState {
  if (state === 'over') return outcome === undefined ? 'idle' : statesByOutcome[outcome]
  if (decision?.kind === 'hold') return 'held'
  return state
}
