import type { DecidedVariables } from './decided-variables.ts'

/** What every template of a decision is given. */
export interface ToldVariables extends DecidedVariables {
  readonly base_url: string
  readonly boot_id: string
}
