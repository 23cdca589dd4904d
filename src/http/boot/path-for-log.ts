import { visibleText } from '../../core/visible-text.ts'

const secretPart = /^(.*?(?:ignition|report))[/\\].*$/is
/** As long as a token or longer, and no digest. */
const tokenLike = /(?![0-9a-f]{64}(?![\w-]))[\w-]{60,}/gi
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
  if (secret !== undefined) return visibleText(`${secret.replace(tokenLike, '…')}/…`, 200)
  return visibleText(path.replace(tokenLike, '…'), 200)
}
