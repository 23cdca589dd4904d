import { visibleText } from '../../core/visible-text.ts'

const secretPart = /^(.*?(?:ignition|report))[/\\].*$/is
/** As long as a token or longer. */
const longWord = /[\w-]{60,}/g
const digest = /^[0-9a-f]{64}$/i
const percentEncoded = /%([0-9A-Fa-f]{2})/g

/**
 * The path of a request as it can be shown: without its query, whose values belong to machines, and without what follows
 * `/ignition/` and `/report/` in whatever spelling, because a token there opens a machine's secrets.
 */
export function pathForLog(url = ''): string {
  const path = url.slice(0, 8192).split('?', 1)[0] ?? ''
  const decoded = path.replace(percentEncoded, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  const secret = secretPart.exec(decoded)?.[1]
  if (secret !== undefined) return visibleText(`${withoutTokens(secret)}/…`, 200)
  return visibleText(withoutTokens(path), 200)
}

function withoutTokens(path: string): string {
  return path.replace(longWord, (word) => (digest.test(word) ? word : '…'))
}
