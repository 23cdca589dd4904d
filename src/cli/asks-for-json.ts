/**
 * Whether a command line asks for JSON, known before it is parsed: also a line that cannot be parsed is answered in
 * the format that its program reads.
 */
export function asksForJson(argv: readonly string[]): boolean {
  let isJson = false
  for (const [index, word] of argv.entries()) {
    if (word === '--') break
    const [, inline] = /^(?:--output=|-o=?)(.+)$/.exec(word) ?? []
    const value = word === '-o' || word === '--output' ? argv[index + 1] : inline
    if (value !== undefined) isJson = value === 'json'
  }
  return isJson
}
