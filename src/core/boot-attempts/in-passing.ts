import type { AttemptFacts } from './attempt-facts.ts'
import { reached } from './journey.ts'

/** Firmware that stays asks four times and more; one of those may be lost. */
const fewestAsked = 3
/** Of a machine that no record matches, which may be made up: a whole run of EDK2 takes 28 s (field case 5). */
const fewestOfStranger = 4
const shortestOfStrangerMs = 20_000

/**
 * A boot of which too little was seen to say that anything is wrong with it: firmware that asked once or twice and was
 * switched off or sent to its disk by somebody, or a script that was asked for and nothing else, as people do with curl.
 * It ends quietly.
 */
export function isInPassing(facts: AttemptFacts, isKnown: boolean): boolean {
  const { journey, run, decisions, isOnlyDecided, decision, startedAt, lastAt } = facts
  // Who was told to wait and asked again is a machine.
  if (isOnlyDecided) return decision !== undefined && (decision.kind !== 'wait' || decisions < 2)
  if (run === undefined || journey.level > reached.nothing) return false
  if (run.acknowledged > 0 || run.chosen !== undefined) return false
  if (isKnown) return run.asked < fewestAsked
  return run.asked < fewestOfStranger || lastAt - startedAt < shortestOfStrangerMs
}
