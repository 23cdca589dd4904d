import type { BootSummary, MachineRow, MachineState } from '../schemas/boots.ts'

/** How a state is shown: a word, a shape beside it, and a tone; none of them alone. */
export interface ShownState {
  readonly word: string
  readonly icon: string
  readonly tone: 'bad' | 'warn' | 'busy' | 'good' | 'calm'
}

const machineWords: Readonly<Record<MachineState, ShownState>> = {
  stuck: { word: 'Stuck', icon: 'stuck', tone: 'bad' },
  failed: { word: 'Failed', icon: 'failed', tone: 'bad' },
  running: { word: 'Booting', icon: 'running', tone: 'busy' },
  waiting: { word: 'Waiting', icon: 'waiting', tone: 'busy' },
  held: { word: 'Held', icon: 'held', tone: 'warn' },
  booted: { word: 'Booted', icon: 'good', tone: 'good' },
  installed: { word: 'Installed', icon: 'good', tone: 'good' },
  served: { word: 'Served', icon: 'served', tone: 'good' },
  local: { word: 'Local disk', icon: 'local', tone: 'calm' },
  idle: { word: 'Quiet', icon: 'idle', tone: 'calm' },
}

export function shownMachineState(state: MachineState): ShownState {
  return machineWords[state]
}

/** The state of a machine; where something is wrong with its last boot it does not look well, however that ended. */
export function shownRowState({ state, diagnosis }: Pick<MachineRow, 'state' | 'diagnosis'>): ShownState {
  const shown = shownMachineState(state)
  if (diagnosis === undefined || shown.tone === 'bad') return shown
  return { ...shown, icon: 'stuck', tone: 'warn' }
}

/** The state of one boot: where it is, or how it ended. */
export function shownBootState({ state, outcome }: Pick<BootSummary, 'state' | 'outcome'>): ShownState {
  if (state !== 'over') return machineWords[state]
  if (outcome === 'superseded') return { word: 'Began anew', icon: 'idle', tone: 'calm' }
  if (outcome === 'lost') return { word: 'Lost', icon: 'stuck', tone: 'warn' }
  return machineWords[outcome ?? 'idle']
}
