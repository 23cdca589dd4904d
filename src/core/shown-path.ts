import { visibleText } from './visible-text.ts'

const secretPart = /^(.*?(?:ignition|report))[/\\].*$/is
/** As long as a token or longer. */
const longWord = /[\w-]{60,}/g
const digest = /^[0-9a-f]{64}$/i

/**
 * A path that a machine asked for as it can be shown: without what follows `/ignition/` and `/report/`, because a token
 * there opens a machine's secrets, and without any other word as long as one. At most 200 characters.
 */
export function shownPath(path: string, decoded: string = path): string {
  const secret = secretPart.exec(decoded)?.[1]
  if (secret !== undefined) return visibleText(`${withoutTokens(secret)}/…`, 200)
  return visibleText(withoutTokens(path), 200)
}

function withoutTokens(path: string): string {
  return path.replace(longWord, (word) => (digest.test(word) ? word : '…'))
}
