import { nearestWord } from '../core/nearest-word.ts'

/** `did you mean "http"?`, when one of the words is near enough to be a slip of the finger. */
export function suggestion(found: string, words: Iterable<string>): string | undefined {
  const meant = nearestWord(found, words)
  return meant === undefined ? undefined : `did you mean ${JSON.stringify(meant)}?`
}
