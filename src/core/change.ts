/** How a document differs from what was followed before, for one architecture (G9). */
export const changeClasses = [
  'first',
  'unchanged',
  'advanced',
  'rolled-back',
  'regenerated',
  'republished',
  'corrected',
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

const settingNames: Readonly<Record<keyof ChangePolicies, string>> = {
  advanced: 'advanced',
  'rolled-back': 'rolledBack',
  republished: 'republished',
}

/** What an admin can decide over; the other classes have one answer. */
export function hasPolicy(change: ChangeClass): change is keyof ChangePolicies {
  return Object.hasOwn(settingNames, change)
}

/** The place in the configuration that decides over a change, as an admin writes it. */
export function changeSetting(stream: string, change: keyof ChangePolicies): string {
  return `streams.${stream}.changes.${settingNames[change]}`
}
