import { shownPath } from '../../core/shown-path.ts'

const percentEncoded = /%([0-9A-Fa-f]{2})/g

/**
 * The path of a request as it can be shown: without its query, whose values belong to machines, and without tokens in
 * whatever spelling.
 */
export function pathForLog(url = ''): string {
  const path = url.slice(0, 8192).split('?', 1)[0] ?? ''
  const decoded = path.replace(percentEncoded, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return shownPath(path, decoded)
}
