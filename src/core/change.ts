/** How a document differs from what was followed before, for one architecture (G9). */
export const changeClasses = [
  'first',
  'unchanged',
  'advanced',
  'rolled-back',
  'regenerated',
  'republished',
  'withdrawn',
  'partial',
] as const
export type ChangeClass = (typeof changeClasses)[number]

/**
 * What to do with a change: `follow` at once, `confirm` (follow when a second refresh says the same and, where
 * mirrors are configured, the canonical source agrees), `hold` (report, keep what was served).
 */
export const changePolicies = ['follow', 'confirm', 'hold'] as const
export type ChangePolicy = (typeof changePolicies)[number]

export type ChangePolicies = Readonly<Record<'advanced' | 'rolled-back' | 'republished', ChangePolicy>>

export const defaultChangePolicies: ChangePolicies = {
  advanced: 'follow',
  'rolled-back': 'confirm',
  republished: 'hold',
}
