import type { AttemptId } from '../boot-attempt.ts'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz'
const timeLength = 9
const randomLength = 6
const latestTime = alphabet.length ** timeLength - 1

const attemptIdPattern = /^[0-9a-z]{15}$/

export function parseAttemptId(text: string): AttemptId | undefined {
  return attemptIdPattern.test(text) ? (text as AttemptId) : undefined
}

/**
 * Names an attempt by its start, so that ids sort by time. `random` gives numbers from 0 to 1 (exclusive).
 * A time that no clock shows counts as the nearest that can be written.
 */
export function attemptIdOf(startedAt: number, random: () => number): AttemptId {
  const time = Number.isFinite(startedAt) ? Math.min(Math.max(0, Math.trunc(startedAt)), latestTime) : 0
  let id = time.toString(36).padStart(timeLength, '0')
  for (let index = 0; index < randomLength; index += 1) {
    id += alphabet[Math.floor(random() * alphabet.length)] ?? '0'
  }
  return id as AttemptId
}
